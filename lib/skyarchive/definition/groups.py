"""How groups of records are called, by whoever tells them."""

BETWEEN_GROUPS = " / "
"""Slashes of the values themselves are doubled, so that no two groups are taken for one."""
EVERYTHING = "all"
"""The group of records without groups."""
NO_GROUP = "(none)"
"""Stands for a missing value in a group; brackets are put around a value that reads so itself."""
READS_SO = r"^(\(+none\)+)$"
