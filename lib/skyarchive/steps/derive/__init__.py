"""Raw rows into the update log."""
