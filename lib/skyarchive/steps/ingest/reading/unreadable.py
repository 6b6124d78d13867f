"""Finding the raw files that nobody can read, when a reading of many failed: a damaged page shows only then."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import functions as F

from skyarchive.errors import InputError, SkyarchiveError
from skyarchive.steps.ingest.reading.files import RawFile
from skyarchive.steps.ingest.reading.raw import TEXT_FORMATS, read_rows

if TYPE_CHECKING:
    from skyarchive.pipeline.workshop import Workshop

Answer = TypeVar("Answer")
_BEHIND = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )*(.+)$", re.MULTILINE)
"""What a line of a Java stack trace says after the names of its exceptions."""


def read_without(
    workshop: "Workshop", files: list[RawFile], read: Callable[[list[RawFile]], Answer]
) -> tuple[Answer, dict[RawFile, str]]:
    """What `read` makes of those files that can be read, and the others, each with why. Where all can, which is nearly
    always, nothing is read twice."""
    try:
        return read(files), {}
    except SkyarchiveError:
        raise
    except Exception as error:
        culprits = unreadable(workshop, files)
        if not culprits:
            raise error
        return read([file for file in files if file not in culprits]), culprits


def unreadable(workshop: "Workshop", files: list[RawFile]) -> dict[RawFile, str]:
    """Of these files those that cannot be read alone, each with why. None, where Spark itself does not work."""
    if workshop.definition.source.format in TEXT_FORMATS:  # which tell of it themselves, in a row without a number
        return {}
    _assert_spark_works(workshop)
    found: dict[RawFile, str] = {}
    for file in files:
        try:
            rows = read_rows(workshop.spark, workshop.definition, [file])
            rows.agg(F.max(F.xxhash64(*rows.columns))).collect()
        except InputError as error:
            found[file] = str(error)
        except Exception as error:
            found[file] = (
                f"{workshop.archive}, file {file.name}: cannot be read, it seems truncated or damaged "
                f"({_reason(error)}); fetch it again."
            )
    _assert_spark_works(workshop)
    return found


def _assert_spark_works(workshop: "Workshop") -> None:
    """Fails, and tells of that, where it is not the files that are to blame."""
    workshop.spark.range(1).count()


def _reason(error: Exception) -> str:
    """What is behind it in the JVM, if it says so: the first line may only name the call that failed."""
    text = str(error).strip()
    behind = _BEHIND.findall(text)
    return (behind[-1] if behind else text.partition("\n")[0]).strip().rstrip(".")
