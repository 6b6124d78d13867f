"""Rows of `windows` as the worker makes them, against the table by definition: any archive, cut in any way."""

import pytest

from window_archives import archive, by_ranges, in_order, plain, queries, truth


@pytest.mark.parametrize("seed", range(150))
def test_any_archive_cut_in_any_way_gives_the_table_by_definition(seed: int) -> None:
    rows, periods = archive(seed)
    asked = queries(seed)
    found, _ = by_ranges(rows, asked, periods, seed)
    assert plain(found, rows) == in_order(truth(rows, asked, periods))
