"""Words that depend on a number."""


def counted(count: int, one: str, many: str) -> str:
    """The number with the word that goes with it: 1 file, 2 files; 1 was, 2 were."""
    return f"{count} {one if count == 1 else many}"
