"""The skyline of the last while: of the records that came within a time, or of the last so many, who is unbeaten."""

from skyarchive.kernels.windows.asking import Method, dominators, window_stays
from skyarchive.kernels.windows.changes import Changes
from skyarchive.kernels.windows.live import LiveWindow
from skyarchive.kernels.windows.shelves import Index
from skyarchive.kernels.windows.stays import Counters, Stays

__all__ = ["Changes", "Counters", "Index", "LiveWindow", "Method", "Stays", "dominators", "window_stays"]
