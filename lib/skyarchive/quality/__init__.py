"""Checks before publication: suites, the judging of frames, Data Docs."""
