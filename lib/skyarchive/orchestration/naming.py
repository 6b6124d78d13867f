"""Names in Airflow that people and other DAGs rely on. Light: DAG files import it at every parse."""

SPARK_CONNECTION = "skyarchive_spark"
"""Decides where Spark runs: a Spark Connect server, a master, or local. Without it SKYARCHIVE_MASTER does."""
MAINTENANCE = "skyarchive_maintenance"
AUDIT = "skyarchive_audit"


def ingest_id(archive: str) -> str:
    return f"{archive}_ingest"


def compute_id(archive: str) -> str:
    return f"{archive}_compute"


def pool_of(archive: str) -> str:
    """The pool whose one slot every writer of an archive needs."""
    return f"skyarchive_{archive}"


def asset_uri(archive: str, table: str) -> str:
    return f"skyarchive://{archive}/{table}"
