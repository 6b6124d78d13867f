"""Data files that nobody can read: DuckDB, which tells of them, does not always name them."""

from collections.abc import Sequence

import duckdb

from skyarchive.store.duck import new_session

_CUT = "Could not read enough bytes"


def names_no_file(error: BaseException) -> bool:
    """Whether this is what DuckDB says of a file whose bytes make no sense, or may be: all else has a kind."""
    return type(error) is duckdb.Error


def unreadable(files: Sequence[str]) -> list[str]:
    """Those of these files whose content is damaged. Where none is, which is nearly always, none is read alone."""
    with new_session() as session:
        if not files or _is_whole(session, files):
            return []
        return [file for file in files if not _is_whole(session, [file])]


def _is_whole(session: duckdb.DuckDBPyConnection, files: Sequence[str]) -> bool:
    try:
        # Every value has to be looked at: to count them, their headers would do.
        session.execute("SELECT bit_xor(hash(COLUMNS(*))) FROM read_parquet(?, union_by_name = true)", [list(files)])
    except duckdb.Error as error:
        if names_no_file(error) or isinstance(error, duckdb.InvalidInputException) or _CUT in str(error):
            return False
        raise  # it is not the content: rights, memory, open files
    return True
