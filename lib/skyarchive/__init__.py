"""Skyline Archive: who was unbeaten, when, and for how long."""

__version__ = "0.1.0"
