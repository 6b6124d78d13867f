"""What it would cost to watch an archive live: clients that report, and a server that keeps the skyline (paper 001)."""
