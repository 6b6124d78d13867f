"""What Airflow's tasks do: one step for one period, on the Spark that one connection names."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, Connection
from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException, AirflowSkipException

from skyarchive.definition.catalog import Catalog
from skyarchive.errors import InputError, LockError, MachineError, SkyarchiveError, SparkError
from skyarchive.names import checked_period
from skyarchive.orchestration.naming import SPARK_CONNECTION, ingest_id
from skyarchive.pipeline.workshop import Workshop
from skyarchive.settings import Settings, load_settings
from skyarchive.wording import counted

if TYPE_CHECKING:
    from skyarchive.pipeline.publishing import Outcome


def run_step(archive: str, step: str, context: dict[str, Any], outlets: list[Asset]) -> dict[str, Any]:
    """Runs a step for the run's period and tells the outlets of it."""
    from skyarchive.definition.selection import Selection
    from skyarchive.pipeline.running import refusals, run_steps
    from skyarchive.pipeline.sources import looked_into
    from skyarchive.pipeline.step import step_named

    period = period_of(context)
    with _explained(), _workshop(archive) as workshop:
        if step_named(step).sources and period not in (sources := looked_into(workshop)).periods():
            if sources.untold():
                first = f"{archive} {period} may be in a file that cannot be read:"
                raise InputError("\n".join([first, *sources.untold()]))
            raise AirflowSkipException(
                f"{archive} has no raw file for {period} in {workshop.settings.raw_folder / archive} yet. When it is "
                f"there, clear this task, or run: skyarchive backfill {archive} --periods {period}"
            )
        outcomes = run_steps(workshop, Selection(period), [step])
        if any(period in outcome.too_early for outcome in outcomes):
            raise AirflowSkipException(f"{'; '.join(refusals(outcomes))}. When the others are there, refresh does it.")
        _raise_refusals(workshop, outcomes)
        published = workshop.ledger().of(step)[period]
    for outlet in outlets:
        context["outlet_events"][outlet].add_partitions(period)
    return {
        "period": period,
        "rows_in": published.rows_in,
        "rows_out": published.rows_out,
        "versions": published.output_versions,
        "seconds": published.details["seconds"],
    }


def refresh_stale(archive: str, context: dict[str, Any]) -> list[str]:
    """Computes again what became stale, unless more is to come: then the last run does it for all."""
    from skyarchive.pipeline.refreshing import refresh

    waiting = _more_to_come(archive, context)
    if waiting:
        raise AirflowSkipException(
            f"Of {ingest_id(archive)} {counted(waiting, 'more run is', 'more runs are')} under way; the last of them "
            "refreshes for all."
        )
    with _explained(), _workshop(archive) as workshop:
        outcomes = refresh(workshop)
        _raise_refusals(workshop, outcomes)
    return [f"{outcome.step} {period}" for outcome in outcomes for period in outcome.published]


def _more_to_come(archive: str, context: dict[str, Any]) -> int:
    """How many ingest runs are under way beside the one that this run follows, which may still be at work on what
    nobody waits for."""
    under_way = {"dag_id": ingest_id(archive), "states": ["queued", "running"]}
    events = [event for told in context["triggering_asset_events"].values() for event in told]
    own = sorted({event.source_run_id for event in events if event.source_run_id})
    count: int = context["ti"].get_dr_count(**under_way)
    return count - context["ti"].get_dr_count(**under_way, run_ids=own) if own else count


def _raise_refusals(workshop: Workshop, outcomes: "list[Outcome]") -> None:
    """A raw file that belongs to no period as far as is known must not fail the task of one."""
    from skyarchive.pipeline.running import left_out, raise_refusals

    for sentence in left_out(outcomes):
        workshop.progress.say(sentence)
    raise_refusals(outcomes, with_files=False)


def maintain_tables(archive: str) -> list[dict[str, Any]]:
    """Compacts and vacuums an archive's tables."""
    from skyarchive.pipeline.maintaining import maintain

    with _explained(), _workshop(archive) as workshop:
        _need_tables(workshop)
        return [care.described() for care in maintain(workshop)]


def audit_snapshots(archive: str) -> dict[str, Any]:
    """Checks random snapshots of an archive by brute force."""
    from skyarchive.pipeline.auditing import audits

    found: dict[str, Any] = {}
    with _explained(), _workshop(archive) as workshop:
        _need_tables(workshop)
        for report in audits(workshop):
            workshop.progress.say(report.summary)
            report.raise_faults()
            found = {"seed": report.seed, "snapshots": report.looked_at}
    return found


def period_of(context: dict[str, Any]) -> str:
    """The period travels explicitly: as parameter of a run by hand, else as the partition key."""
    period = context["params"].get("period") or context["dag_run"].partition_key
    if not period:
        raise AirflowFailException(
            "This run has neither a parameter `period` nor a partition key: trigger it again with a period."
        )
    return checked_period(period)


def spark_master() -> str | None:
    """Where the connection says that Spark runs; None if there is no such connection."""
    try:
        connection = Connection.get(SPARK_CONNECTION)
    except AirflowNotFoundException:
        return None
    if connection.conn_type == "spark_connect":
        from airflow.providers.apache.spark.hooks.spark_connect import SparkConnectHook

        return SparkConnectHook(SPARK_CONNECTION).get_connection_url()
    host = connection.host or "local[*]"
    if connection.port:
        return f"{host if '://' in host else f'spark://{host}'}:{connection.port}"
    return host


def _settings() -> Settings:
    settings = load_settings()
    master = spark_master()
    return replace(settings, master=master) if master else settings


@contextmanager
def _workshop(archive: str) -> Iterator[Workshop]:
    # It tells of everything it does while it is imported, hundreds of lines.
    logging.getLogger("great_expectations").setLevel(logging.CRITICAL)
    settings = _settings()
    workshop = Workshop(settings, Catalog(settings).get(archive))
    try:
        yield workshop
    finally:
        workshop.close()


def _need_tables(workshop: Workshop) -> None:
    if workshop.archive not in workshop.lake.archives():
        raise AirflowSkipException(f"{workshop.archive} has no tables yet.")


@contextmanager
def _explained() -> Iterator[None]:
    """What was refused will be refused again: no retry. A lock, Spark's absence, a full disk or anything unforeseen may
    pass."""
    try:
        yield
    except (LockError, MachineError, SparkError):
        raise
    except SkyarchiveError as error:
        raise AirflowFailException(str(error)) from error
