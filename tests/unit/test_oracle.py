"""The oracle itself, on examples small enough to work out by hand."""

import gzip
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import oracle
from oracle import prices

GONE = "gone"


def told(derived: oracle.Derived) -> list[tuple[Any, ...]]:
    """The updates as (period, snapshot, object, attributes or GONE)."""
    rows = []
    for period, snapshot, name, *position, gone in derived.updates.itertuples(index=False):
        assert all(math.isnan(value) for value in position) == gone
        rows.append((period, snapshot, name, GONE) if gone else (period, snapshot, name, *position))
    return rows


def refusals(derived: oracle.Derived) -> list[tuple[Any, ...]]:
    return list(derived.refused.itertuples(index=False, name=None))


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(frame.itertuples(index=False, name=None))


# nba


def box(game: int, when: str, athlete: int | None = 7, **other: Any) -> dict[str, Any]:
    """A row with 10 minutes, 5 points, 2 rebounds, 1 of 2 field goals; `when` is New York time."""
    time = datetime.fromisoformat(when).replace(tzinfo=ZoneInfo("America/New_York"))
    row = {"game_id": game, "season": 2002, "season_type": 2, "game_date_time": time, "athlete_id": athlete}
    row |= {"athlete_display_name": f"Player {athlete}", "team_id": 1, "minutes": 10.0, "points": 5.0}
    row |= {"rebounds": 2.0, "field_goals_made": 1.0, "field_goals_attempted": 2.0}
    return row | {"assists": 0.0, "steals": 0.0, "blocks": 0.0} | other


def box_file(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    numbers = dict.fromkeys(["game_id", "season", "season_type", "athlete_id", "team_id"], pa.int32())
    columns = {}
    for column in rows[0]:
        values = [row[column] for row in rows]
        columns[column] = pa.array(values, type=numbers.get(column), from_pandas=False)
    pq.write_table(pa.table(columns), folder / name)
    return folder / name


def test_nba_career_starts_at_the_31st_game_and_goes_on_in_the_next_season(tmp_path: Path) -> None:
    # 29 games of season 2002 on 1..29 January; then three of 2003.
    first = [box(game, f"2002-01-{game:02}T19:00") for game in range(1, 30)]
    second = [
        box(10, "2003-01-01T19:00", season=2003),  # his 31st game, same time as game 9: 9 comes before 10
        box(9, "2003-01-01T19:00", season=2003),  # his 30th
        box(11, "2003-07-01T19:00", season=2003),  # 32nd: all averages as before
        box(12, "2003-07-02T19:00", season=2003, points=38.0),  # 33rd
    ]
    files = [
        box_file(tmp_path, "box_2003.parquet", second),
        box_file(tmp_path, "box_2002.parquet", first),
    ]
    derived = oracle.nba(files)
    # Game 31: 155 points and 62 rebounds in 310 minutes, 31 of 62. Game 32 changes nothing.
    # Game 33: 32 * 5 + 38 = 198 points in 330 minutes = 0.6; 66 / 330 = 0.2; 33 of 66.
    assert told(derived) == [("2003", 30, "7", 0.5, 0.2, 0.5), ("2003", 32, "7", 0.6, 0.2, 0.5)]
    # 19:00 in New York is midnight UTC in winter and 23:00 in summer.
    assert rows_of(derived.snapshots.tail(4)) == [
        ("2003", 29, pd.Timestamp("2003-01-02T00:00Z"), "9"),
        ("2003", 30, pd.Timestamp("2003-01-02T00:00Z"), "10"),
        ("2003", 31, pd.Timestamp("2003-07-01T23:00Z"), "11"),
        ("2003", 32, pd.Timestamp("2003-07-02T23:00Z"), "12"),
    ]
    assert rows_of(derived.objects) == [("2002", "7", "Player 7"), ("2003", "7", "Player 7")]
    assert refusals(derived) == []


def test_nba_only_counted_games_are_snapshots(tmp_path: Path) -> None:
    # 31 games, in none of which 8 throws: never alive. Four games without a row that counts.
    rows = [box(game, f"2002-01-{game:02}T19:00", 8, field_goals_made=0.0, field_goals_attempted=0.0)
            for game in range(1, 32)]  # fmt: skip
    rows += [box(40, "2002-02-01T19:00", season_type=5), box(41, "2002-02-01T19:00", team_id=31)]
    rows += [box(42, "2002-02-01T19:00", minutes=None), box(43, "2002-02-01T19:00", minutes=0.0)]
    derived = oracle.nba([box_file(tmp_path, "box.parquet", rows)])
    assert derived.snapshots["label"].tolist() == [str(game) for game in range(1, 32)]
    assert (told(derived), refusals(derived)) == ([], [])
    assert rows_of(derived.objects) == [("2002", "8", "Player 8")]


def test_nba_name_is_that_of_the_last_counted_row(tmp_path: Path) -> None:
    rows = [
        box(3, "2002-01-02T19:00", athlete_display_name="Last"),  # same time as game 2, larger id
        box(2, "2002-01-02T19:00", athlete_display_name="Second"),
        box(1, "2002-01-01T19:00", athlete_display_name="First"),
        box(4, "2002-01-03T19:00", athlete_display_name="Did not play", minutes=None),
    ]
    assert rows_of(oracle.nba([box_file(tmp_path, "box.parquet", rows)]).objects) == [("2002", "7", "Last")]


def test_nba_refuses_the_first_fault_of_a_row(tmp_path: Path) -> None:
    when = "2002-01-01T19:00"
    rows = [
        box(1, when, None, minutes=-1.0),  # row 1: no athlete comes before the number
        box(1, when, 1, minutes=math.nan),  # row 2: NaN is not null
        box(1, when, 2, minutes=None),  # row 3: did not play
        box(1, when, 3, blocks=-1.0, season_type=5),  # row 4: checked although it does not count
        box(1, when, 4, points=math.inf),  # row 5
        box(1, when, 5, field_goals_made=3.0),  # row 6: 3 of 2
        box(1, when, 6, season=2003),  # row 7
        box(1, when, 3),  # row 8: row 4 was refused, so this is the first
        box(1, when, 3),  # row 9: the second
    ]
    again = [box(1, when, 3), box(1, when, 2, season=2003, minutes=None)]
    files = [box_file(tmp_path, "box_2002.parquet", rows), box_file(tmp_path, "copy.parquet", again)]
    assert refusals(oracle.nba(files)) == [
        ("2002", "box_2002.parquet", 1, "athlete"),
        ("2002", "box_2002.parquet", 2, "number"),
        ("2002", "box_2002.parquet", 4, "number"),
        ("2002", "box_2002.parquet", 5, "number"),
        ("2002", "box_2002.parquet", 6, "made_attempted"),
        ("2002", "box_2002.parquet", 7, "other_period"),
        ("2002", "box_2002.parquet", 9, "duplicate"),
        ("2002", "copy.parquet", 1, "duplicate"),
    ]


# stocks

HEADER = "date,ticker,open,high,low,close,volume\n"


def test_stocks_beta_and_slope_by_hand() -> None:
    # Own return = 3 * market + 1, so the covariance is 3 times the variance. A constant market has none.
    market = np.tile([0.01, -0.01, 0.02, 0.0], 50)
    assert prices.betas(3 * market + 1, market).tolist() == [3.0]
    assert math.isnan(prices.betas(market, np.full(200, 0.3))[0])
    # Half a unit a day, in both full windows of 201 closes.
    assert prices.slopes(100 + 0.5 * np.arange(201)).tolist() == [0.5, 0.5]
    # Flat but for the last: (199 - 99.5) * 6700 / sum of (x - 99.5)^2 = 666650 / 666650.
    assert prices.slopes(np.array([1.0] * 199 + [6701.0])).tolist() == [1.0]


def prices_file(folder: Path, closes: Mapping[str, Sequence[float | None]], first: date = date(2004, 1, 1)) -> Path:
    """One row per ticker and day that has a close."""
    lines = [
        f"{first + timedelta(days=k)},{ticker},1,1e9,0,{close},0\n"
        for ticker, of_days in closes.items()
        for k, close in enumerate(of_days)
        if close is not None
    ]
    path = folder / "prices.csv.gz"
    path.write_bytes(gzip.compress((HEADER + "".join(lines)).encode()))
    return path


def test_stocks_alive_from_the_201st_row(tmp_path: Path) -> None:
    # Alone, A is the market: beta 1. Its last 200 closes are flat but for the last: slope 1, as above.
    closes = [1.0] * 200 + [6701.0]
    assert told(oracle.stocks([prices_file(tmp_path, {"A": closes[:200]})])) == []
    assert told(oracle.stocks([prices_file(tmp_path, {"A": closes})])) == [("2004", 200, "A", 1.0, 1.0)]


def test_stocks_market_is_the_mean_over_tickers(tmp_path: Path) -> None:
    # The market is a third of A's return, so A's beta is 3.
    flat = [50.0] * 201
    path = prices_file(tmp_path, {"A": [100.0, 110.0] * 100 + [100.0], "B": flat, "C": flat})
    assert oracle.stocks([path]).updates["beta"].tolist() == [3.0, 0.0, 0.0]


def test_stocks_alive_gone_and_back(tmp_path: Path) -> None:
    # A goes 100, 110, 100, 110 ...; B is flat and has no row on day 202. Day 200 is 2004-12-31.
    flat: list[float | None] = [50.0] * 204
    flat[202] = None
    path = prices_file(tmp_path, {"A": [100.0, 110.0] * 102, "B": flat}, first=date(2004, 6, 14))
    derived = oracle.stocks([path])
    # B's returns are 0, so the market is half of A's return: beta 2 for A, 0 for B.
    # A's slope on day 200: 100 pairs (110, 100) give 5 * (x - (x + 1)) each, -500 / 666650 = -0.0 = 0.0;
    # on day 201 +500 / 666650: no change. On day 202 the market is A's return r = -1/11 alone. With
    # returns 1/10 and -1/11, 100 of each, mean 1/220 and deviation d = 21/220:
    #   sum of (r - mean) * m = 200 d^2 / 2 + (-d)(-1/11) / 2            = 0.911157 + 0.004339 = 0.915496
    #   sum of m^2 = 100 (1/100 + 1/121) / 4 + (1 - 1/4) / 121           = 0.456612 + 0.006198 = 0.462810
    #   200 (mean of m)^2 = 200 (1/440 - 1/4400)^2                       = 0.000837
    #   beta = 0.915496 / (0.462810 - 0.000837)                          = 1.98
    # Day 203 has 100 of each return again and the odd day: 1.98 still.
    assert told(derived) == [
        ("2004", 200, "A", 2.0, 0.0),
        ("2004", 200, "B", 0.0, 0.0),
        ("2005", 202, "A", 1.98, 0.0),
        ("2005", 202, "B", GONE),
        ("2005", 203, "B", 0.0, 0.0),
    ]
    assert math.copysign(1, derived.updates["slope"][0]) == 1
    assert rows_of(derived.snapshots.iloc[[0, 203]]) == [
        ("2004", 0, pd.Timestamp("2004-06-14T00:00Z"), "2004-06-14"),
        ("2005", 203, pd.Timestamp("2005-01-03T00:00Z"), "2005-01-03"),
    ]
    assert rows_of(derived.objects) == [(year, t, t) for year in ("2004", "2005") for t in ("A", "B")]


def test_stocks_refuses_the_first_fault_of_a_row(tmp_path: Path) -> None:
    rows = [
        "2005-01-03,A,1,2,1",  # 1: too few fields
        "2005-01-03,A,1,2,1,1,5,6",  # 2: too many
        "2005-02-30,A,1,2,1,1,5",  # 3: no such day
        "2005-01-03,A,,2,1,1,5",  # 4: missing
        "2005-01-03,A,1,2,1,nan,5",  # 5: not finite
        "2005-01-03,A,x,2,1,1,5",  # 6: text
        "2005-01-03,A,1,2,1,0,5",  # 7: close 0
        "2005-01-03,A,1,1,2,1,5",  # 8: high < low
        "2005-01-03,A,-1,2,1,1,5",  # 9: negative open
        '2005-01-03,"A,B",0,2,0,1,0',  # 10: good: zero open, low and volume, a comma in the ticker
        "",  # a blank line is no record
        "2005-01-03,A,1,2,1,1,5",  # 11: good, the first A of the day
        "2005-01-03,A,1,2,1,1,5",  # 12: the second
        "2006-01-03,A,1,2,1,1,5",  # 13: another year than the file's
    ]
    path = tmp_path / "daily_2005.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    derived = oracle.stocks([path])
    kinds = ["fields", "fields", "date", "number", "number", "number", "close", "high_low", "negative"]
    expected = [("2005", "daily_2005.csv", row, kind) for row, kind in enumerate(kinds, start=1)]
    expected += [("2005", "daily_2005.csv", 12, "duplicate"), ("2005", "daily_2005.csv", 13, "other_period")]
    assert refusals(derived) == expected
    assert rows_of(derived.objects) == [("2005", "A", "A"), ("2005", "A,B", "A,B")]


def test_stocks_row_without_a_date_goes_to_the_first_year_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "prices_2005_2006.csv"  # two numbers: named for no year
    path.write_text(HEADER + "2006-01-03,A,1,2,1,1,5\nsoon,A,1,2,1,1,5\n2005-01-03,A,1,2,1,1,5\n")
    assert refusals(oracle.stocks([path])) == [("2005", path.name, 2, "date")]


# tcp

DAY = 1713484800  # 2024-04-19 00:00:00 UTC
PLAIN = "ts\tuid\torig_h\torig_p\tresp_h\tresp_p\tproto\tlocal_orig\tlocal_resp\n"


def conn(
    second: float | str, orig: str, resp: str, port: int | str = 443, flags: str = "--", proto: str = "tcp"
) -> str:
    """One Zeek line; `second` counts from DAY."""
    ts = second if isinstance(second, str) else f"{DAY + second:.6f}"
    return "\t".join([ts, "C1", orig, "50000", resp, str(port), proto, *flags]) + "\n"


def zeek(folder: Path, *lines: str, head: str = PLAIN) -> Path:
    path = folder / "conn.log"
    path.write_text(head + "".join(lines))
    return path


def test_tcp_window_is_closed_below_and_open_above(tmp_path: Path) -> None:
    lines = [
        conn(100, "10.0.0.5", "8.8.4.4", 22),  # in T = 200 .. 1100, that is k = 2..11, snapshots 1..10
        conn(50, "10.0.0.5", "8.8.8.8"),  # in T = 100 .. 1000: snapshots 0..9; not sorted
        conn(250.5, "10.0.0.5", "8.8.8.77", 53),  # in T = 300 .. 1200: snapshots 2..11, the same /24
        conn(250, "10.0.0.5", "9.9.9.9", proto="udp"),  # does not count
    ]
    derived = oracle.tcp([zeek(tmp_path, *lines)])
    day = "2024-04-19"
    assert told(derived) == [
        (day, 0, "8.8.8.0/24", 1, 0, 0, 0),
        (day, 1, "8.8.4.0/24", 0, 0, 1, 0),
        (day, 2, "8.8.8.0/24", 1, 0, 0, 1),
        (day, 10, "8.8.8.0/24", 0, 0, 0, 1),
        (day, 11, "8.8.4.0/24", GONE),
        (day, 12, "8.8.8.0/24", GONE),
    ]
    assert len(derived.snapshots) == 864
    assert rows_of(derived.snapshots.iloc[[0, 863]]) == [
        (day, 0, pd.Timestamp("2024-04-19T00:01:40Z"), "2024-04-19 00:01:40"),
        (day, 863, pd.Timestamp("2024-04-20T00:00:00Z"), "2024-04-20 00:00:00"),
    ]


def test_tcp_windows_reach_over_midnight_and_over_a_missing_day(tmp_path: Path) -> None:
    midnight = 86400
    lines = [
        conn(midnight - 50, "10.0.0.5", "8.8.8.8"),  # T = midnight .. midnight + 900: snapshots 863..872
        conn(2 * midnight - 1, "10.0.0.5", "8.8.4.4"),  # the last T of 20 April: snapshot 864 + 863 = 1727
        conn(3 * midnight + 99.9, "10.0.0.5", "1.1.1.1"),  # 22 April; the 21st is absent: 1728..1737
    ]
    derived = oracle.tcp([zeek(tmp_path, *lines)])
    assert told(derived) == [
        ("2024-04-19", 863, "8.8.8.0/24", 1, 0, 0, 0),
        ("2024-04-20", 873, "8.8.8.0/24", GONE),
        ("2024-04-20", 1727, "8.8.4.0/24", 1, 0, 0, 0),
        ("2024-04-22", 1728, "1.1.1.0/24", 1, 0, 0, 0),
        ("2024-04-22", 1728, "8.8.4.0/24", GONE),
        ("2024-04-22", 1738, "1.1.1.0/24", GONE),
    ]
    assert derived.snapshots["label"][1728] == "2024-04-22 00:01:40"


@pytest.mark.parametrize(
    ("orig", "resp", "flags", "remote"),
    [
        ("8.8.8.8", "9.9.9.9", "--", "9.9.9.0/24"),  # neither is local: the responder
        ("8.8.8.8", "10.0.0.5", "--", "8.8.8.0/24"),  # the responder is private, the originator not
        ("192.168.1.1", "10.0.0.5", "--", "10.0.0.0/24"),  # both are: the responder
        ("8.8.8.8", "9.9.9.9", "FT", "8.8.8.0/24"),  # the flags say so
        ("8.8.8.8", "10.0.0.5", "FF", "10.0.0.0/24"),  # the flags are above the address
        ("8.8.8.8", "10.0.0.5", "T-", "10.0.0.0/24"),  # each flag for itself: both are local
        ("10.0.0.5", "2a00:1450:4001:81b::200e", "--", "2a00:1450:4001:81b::/64"),
    ],
)
def test_tcp_remote_side(tmp_path: Path, orig: str, resp: str, flags: str, remote: str) -> None:
    derived = oracle.tcp([zeek(tmp_path, conn(0, orig, resp, flags=flags))])
    assert rows_of(derived.objects) == [("2024-04-19", remote, remote)]


def test_tcp_refuses_faulty_tcp_rows_only(tmp_path: Path) -> None:
    # As Zeek writes it: the same columns with the four of the connection's ends under id.
    names = PLAIN.replace("orig_h\torig_p\tresp_h\tresp_p", "id.orig_h\tid.orig_p\tid.resp_h\tid.resp_p")
    head = "#separator \\x09\n#fields\t" + names
    lines = [
        conn(86400, "10.0.0.5", "8.8.8.8"),  # 1: good, on the 20th
        conn("soon", "10.0.0.5", "8.8.8.8"),  # 2: under the file's first day
        "#close\t2024-04-21\n",  # no row
        conn(5, "10.0.0.5", "8.8.8.888"),  # 3
        conn(86405, "host", "8.8.8.8"),  # 4
        conn(5, "10.0.0.5", "8.8.8.8", 65536),  # 5
        conn(5, "10.0.0.5", "8.8.8.8", "-"),  # 6
        conn(5, "10.0.0.5", "8.8.8.8").replace("\t-\t-\n", "\n"),  # 7: two fields short
        conn("soon", "host", "8.8.8.888", proto="udp"),  # 8: not tcp, but nowhere
        "1713484805.0\tC1\n",  # 9: too short to tell
    ]
    derived = oracle.tcp([zeek(tmp_path, *lines, head=head)])
    assert refusals(derived) == [
        ("2024-04-19", "conn.log", 2, "ts"),
        ("2024-04-19", "conn.log", 3, "address"),
        ("2024-04-20", "conn.log", 4, "address"),
        ("2024-04-19", "conn.log", 5, "port"),
        ("2024-04-19", "conn.log", 6, "port"),
        ("2024-04-19", "conn.log", 7, "fields"),
        ("2024-04-19", "conn.log", 8, "ts"),
        ("2024-04-19", "conn.log", 9, "fields"),
    ]
    assert derived.snapshots["period"].unique().tolist() == ["2024-04-20"]


def test_tcp_lbl_lines(tmp_path: Path) -> None:
    path = tmp_path / "lbl-conn-7.red"
    path.write_text(
        f"{DAY + 1}.5 1.24 smtp 1173 328 128 192.0.2.7 SF L\n"  # 1: mail
        f"{DAY + 2}.5 ? nntp ? ? 128 192.0.2.7 REJ\n"  # 2: mail; no flags
        f"{DAY + 3}.5 1 www 1 1 9 192.0.2.8 SF\n"  # 3: web; another host, though of the same /24
        f"{DAY + 4}.5 1 finger 1 1 9 192.0.2.8\n"  # 4: one field short
        f"{DAY + 4}.5 1 finger 1 1 9 ? SF\n"  # 5: no remote host
        f"{DAY + 5}.5 1 login 1 1 9 192.0.2.8 SF N\n"  # 6: shell
    )
    derived = oracle.tcp([path])
    day = "2024-04-19"
    assert told(derived)[:2] == [(day, 0, "192.0.2.7", 0, 2, 0, 0), (day, 0, "192.0.2.8", 1, 0, 1, 0)]
    assert refusals(derived) == [(day, path.name, 4, "fields"), (day, path.name, 5, "address")]


# generic

LOG = pd.DataFrame(
    [
        (1, "a", 1.0, 2.0, False),  # row 1: snapshot 0
        (1, "b", 5.0, 5.0, False),  # row 2
        (1, "a", 9.0, 9.0, False),  # row 3: a second time
        (10, "a", 1.0, 2.0, False),  # row 4: snapshot 2, as before
        (2, "b", np.nan, 5.0, False),  # row 5: snapshot 1, not alive
        (2, "c", np.inf, 0.0, False),  # row 6: never was alive
        (11, "b", -0.0, 5.0, False),  # row 7: snapshot 3
        (12, "b", 0.0, 5.0, False),  # row 8: snapshot 4, -0.0 is 0.0
        (13, "b", 0.0, 5.0, True),  # row 9: snapshot 5
        (13, None, 0.0, 5.0, False),  # row 10: nobody
    ],
    columns=["order", "object", "x", "y", "gone"],
)


def block(order: int) -> str:
    """Two periods: below 10, and the rest."""
    return f"{order // 10}"


def test_update_log() -> None:
    derived = oracle.update_log(LOG, ["x", "y"], block, gone="gone")
    assert told(derived) == [
        ("0", 0, "a", 1.0, 2.0),
        ("0", 0, "b", 5.0, 5.0),
        ("0", 1, "b", GONE),
        ("1", 3, "b", 0.0, 5.0),
        ("1", 5, "b", GONE),
    ]
    assert derived.snapshots["label"].tolist() == ["1", "2", "10", "11", "12", "13"]
    assert refusals(derived) == [("0", "", 3, "duplicate"), ("1", "", 10, "object")]
    assert rows_of(derived.objects[["period", "object"]]) == [
        ("0", "a"), ("0", "b"), ("0", "c"), ("1", "a"), ("1", "b"),
    ]  # fmt: skip


def test_full_snapshots() -> None:
    # Who has no row in a snapshot is gone in it: a at snapshots 1 and 3, and b at 2 already is.
    derived = oracle.full_snapshots(LOG, ["x", "y"], block, gone="gone")
    assert told(derived) == [
        ("0", 0, "a", 1.0, 2.0),
        ("0", 0, "b", 5.0, 5.0),
        ("0", 1, "a", GONE),
        ("0", 1, "b", GONE),
        ("1", 2, "a", 1.0, 2.0),
        ("1", 3, "a", GONE),
        ("1", 3, "b", 0.0, 5.0),
        ("1", 5, "b", GONE),
    ]


def test_generic_times_and_period_column() -> None:
    days = pd.to_datetime(["2024-01-02", "2024-01-01"])
    frame = pd.DataFrame({"object": [1, 1], "order": days, "x": [3.0, 4.0], "month": ["m1", "m1"]})
    derived = oracle.update_log(frame, ["x"], "month")
    assert told(derived) == [("m1", 0, "1", 4.0), ("m1", 1, "1", 3.0)]
    assert rows_of(derived.snapshots)[0] == (
        "m1",
        0,
        pd.Timestamp("2024-01-01T00:00Z"),
        "2024-01-01 00:00:00",
    )
