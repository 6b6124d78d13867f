"""What questions share: moments, positions, tables for eyes, pictures."""
