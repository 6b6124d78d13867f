"""Records in the order they arrive, and what several steps do alike with them: each counts for a while."""
