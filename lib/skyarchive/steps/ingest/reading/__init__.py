"""Raw files into frames: finding them, checking them, reading every row with its number."""
