"""Whatever changes in raw files: after `refresh` the tables are those of a straight run."""

from pyspark.sql import SparkSession

from conftest import Home
from skyarchive.fingerprints import fingerprints_by_period
from skyarchive.ingesting import ingest_periods
from skyarchive.running import whole_inventory

FIELDS = "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto"


def connections(port: int, *more: str) -> str:
    """A log of 300 tcp connections of one day, and other rows."""
    rows = [f"{1_713_484_900 + n}.5\tC{n}\t10.0.0.1\t40000\t9.9.{n % 7}.9\t{port}\ttcp" for n in range(300)]
    return "\n".join([FIELDS, *rows, *more, ""])


def ingested(spark: SparkSession, home: Home, archive: str) -> dict[str, tuple[int, str]]:
    """What `runs` says of the raw rows that are there now: it must be what a look at them as a whole says."""
    workshop = home.workshop(archive)
    assert ingest_periods(workshop, whole_inventory(workshop).periods()).refused == {}
    told = workshop.ledger().of("ingest")
    raw = workshop.tables.read("raw", workshop.lake.published_versions(archive)["raw"])
    found = fingerprints_by_period(raw, list(workshop.tables.contract("raw").columns))
    assert {period: (it.rows_out, it.output_fingerprints["raw"]) for period, it in told.items()} == found
    return found


def test_a_row_that_is_not_checked_and_gives_no_period_hides_no_correction(home: Home, spark: SparkSession) -> None:
    nowhere = "x\tU1\t10.0.0.1\t53\t8.8.8.8\t53\tudp"
    bad_port = "1713484900.5\tC1\t10.0.0.1\t40000\t9.9.9.9\tssh\ttcp"
    log = home.raw / "tcp" / "conn.log"
    log.parent.mkdir(parents=True)
    log.write_text(connections(443, nowhere, bad_port))
    before = ingested(spark, home, "tcp")
    assert home.sql("select period, row, reason from tcp.quarantine order by row") == [
        {"period": "2024-04-19", "row": 301, "reason": "ts is not a number"},
        {"period": "2024-04-19", "row": 302, "reason": "resp_p is not a number"},
    ]
    log.write_text(connections(25, nowhere, bad_port))
    assert ingested(spark, home, "tcp") != before
