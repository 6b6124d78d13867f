"""Raw files into `raw` and `quarantine`."""
