"""A complaint of a worker about the data, as the sentence it is."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from skyarchive.errors import InputError

_COMPLAINT = re.compile(r"^skyarchive\.errors\.\w+: (.+)$", re.MULTILINE)


@contextmanager
def explained(archive: str = "") -> Iterator[None]:
    """Errors that workers raise on purpose come out as such; Spark wraps them in its own, with stack traces."""
    try:
        yield
    except PySparkException as error:
        found = _COMPLAINT.search(str(error))
        if found is None:
            raise
        raise InputError(f"{archive}: {found[1]}." if archive else f"{found[1]}.") from error
