"""Rows of `uncertain` as the worker makes them, against the table by definition: any archive, cut in any way."""

import pytest

from uncertain_archives import archive, assert_same, by_ranges, plain, queries, takes_part, truth


@pytest.mark.parametrize("seed", range(150))
def test_any_archive_cut_in_any_way_gives_the_table_by_definition(seed: int) -> None:
    rows, periods = archive(seed)
    asked = queries(seed)
    found, left_out = by_ranges(rows, asked, periods, seed)
    assert_same(plain(found), truth(rows, asked, periods))
    for period in periods if rows else ():
        for query in asked:
            without = [row for row in rows if row["period"] == period and not takes_part(row, query)]
            odd = sum(row["even"] or query.where is None for row in without)
            assert left_out.get(period, {}).get(query.name, 0) == odd


def test_the_data_has_what_makes_it_hard() -> None:
    wanted = [row for seed in range(40) for row in truth(archive(seed)[0], queries(seed), archive(seed)[1])]
    assert {row["entered_because"] for row in wanted} == {"arrived", "freed"}
    assert {row["left_because"] for row in wanted} == {"expired", "doubted", None}
    assert any(row["continued_from"] and row["continues_into"] for row in wanted)
    assert any(row["greatest"] > row["probability"] for row in wanted)
    twice: dict[tuple[object, ...], set[int]] = {}
    for row in wanted:
        key = (row["query"], row["threshold"], row["file"], row["row"], row["object"], row["arrived"])
        twice.setdefault(key, set()).add(row["entered"])
    assert max(map(len, twice.values())) > 1
