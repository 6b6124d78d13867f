"""Who is unbeaten in a share of the last snapshots."""
