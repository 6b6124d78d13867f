"""The DAGs: two per archive, built from its definition, and two for all. Parsed all the time, so nothing heavy here."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param, PartitionedAssetTimetable, chain, task

from skyarchive.catalog import Catalog
from skyarchive.definition import Definition
from skyarchive.names import PERIOD, STEPS
from skyarchive.orchestration import docs
from skyarchive.orchestration.naming import AUDIT, MAINTENANCE, asset_uri, compute_id, ingest_id, pool_of
from skyarchive.orchestration.notifying import notify_failure
from skyarchive.settings import load_settings

TO_THE_LOG = STEPS[: STEPS.index("derive") + 1]
"""What the ingest DAG does; the compute DAG does the rest."""
_TASK_DEFAULTS = {
    "owner": "skyarchive",
    "retries": 2,
    "retry_delay": timedelta(seconds=30),
    "retry_exponential_backoff": True,
    "max_retry_delay": timedelta(minutes=10),
    "execution_timeout": timedelta(hours=6),
    "on_failure_callback": notify_failure,
}


def archive_dags() -> Iterator[DAG]:
    """The DAGs of every archive whose definition can be used."""
    for definition in _usable():
        yield ingest_dag(definition)
        yield compute_dag(definition)


def ingest_dag(definition: Definition) -> DAG:
    """From raw files to the update log of one period; tells who waits for it."""
    archive, timing = definition.name, definition.timing
    timetable = (
        CronPartitionTimetable(timing.cron, timezone="UTC", run_offset=timing.offset, key_format=timing.key)
        if timing
        else None
    )
    updates = Asset(asset_uri(archive, "updates"))
    with _dag(ingest_id(archive), definition, timetable, docs.INGEST) as dag:
        before = None
        for step in TO_THE_LOG:
            now = _step(archive, step, [updates] if step == TO_THE_LOG[-1] else [])
            if before is not None:
                before >> now
            before = now
    return dag


def compute_dag(definition: Definition) -> DAG:
    """What follows from a period's updates, as soon as they are published; then what became stale by it."""
    archive = definition.name
    timetable = PartitionedAssetTimetable(assets=Asset(asset_uri(archive, "updates")))
    with _dag(compute_id(archive), definition, timetable, docs.COMPUTE) as dag:
        skyline, *further = (
            _step(archive, step, [Asset(asset_uri(archive, step))])
            for step in definition.steps
            if step not in TO_THE_LOG
        )
        chain(skyline, *([further] if further else []), _refresh(archive))
    return dag


def maintenance_dag() -> DAG:
    """Every archive's tables, once a week."""
    with _dag_for_all(MAINTENANCE, "0 3 * * 0", docs.MAINTENANCE) as dag:
        for definition in _usable():
            _maintain(definition.name)
    return dag


def audit_dag() -> DAG:
    """Random snapshots of every archive, every night."""
    with _dag_for_all(AUDIT, "0 4 * * *", docs.AUDIT) as dag:
        for definition in _usable():
            _audit(definition.name)
    return dag


def _usable() -> list[Definition]:
    return Catalog(load_settings()).all()[0]


def _dag(dag_id: str, definition: Definition, schedule: Any, doc: str) -> DAG:
    archive = definition.name
    return DAG(
        dag_id,
        schedule=schedule,
        description=definition.title,
        doc_md=doc.format(archive=archive, title=definition.title, steps=", ".join(definition.steps)),
        tags=["skyarchive", archive],
        params={"period": _period_param(definition)},
        default_args={**_TASK_DEFAULTS, "pool": pool_of(archive)},
        catchup=False,
        max_active_runs=1,  # in the order of the queue, which is that of a backfill
    )


def _dag_for_all(dag_id: str, cron: str, doc: str) -> DAG:
    return DAG(
        dag_id,
        schedule=cron,
        doc_md=doc,
        tags=["skyarchive"],
        default_args=_TASK_DEFAULTS,
        catchup=False,
        max_active_runs=1,
    )


def _period_param(definition: Definition) -> Param:
    example = {"%Y": "2014", "%Y-%m": "2014-06", "%Y-%m-%d": "2014-06-17"}
    shape = example.get(definition.timing.key, "") if definition.timing else ""
    return Param(
        None,
        type=["null", "string"],
        pattern=f"^{PERIOD.pattern}$",
        title="Period",
        description_md=f"The period to run{f', such as `{shape}`' if shape else ''}. "
        "Leave it empty in runs that have a partition key.",
    )


def _step(archive: str, step: str, outlets: list[Asset]) -> Any:
    @task(task_id=step, outlets=outlets, doc_md=docs.STEPS[step].format(archive=archive))
    def run(**context: Any) -> dict[str, Any]:
        from skyarchive.orchestration.tasks import run_step

        return run_step(archive, step, context, outlets)

    return run()


def _refresh(archive: str) -> Any:
    # After a step that was skipped, too: it waits for other periods, and this is what computes it in the end.
    @task(trigger_rule="none_failed", doc_md=docs.REFRESH.format(archive=archive))
    def refresh(**context: Any) -> list[str]:
        from skyarchive.orchestration.tasks import refresh_stale

        return refresh_stale(archive, context)

    return refresh()


def _maintain(archive: str) -> Any:
    @task(task_id=archive, pool=pool_of(archive), doc_md=docs.MAINTAIN.format(archive=archive))
    def maintain() -> list[dict[str, Any]]:
        from skyarchive.orchestration.tasks import maintain_tables

        return maintain_tables(archive)

    return maintain()


def _audit(archive: str) -> Any:
    @task(task_id=archive, doc_md=docs.AUDIT_ONE.format(archive=archive))
    def audit() -> dict[str, Any]:
        from skyarchive.orchestration.tasks import audit_snapshots

        return audit_snapshots(archive)

    return audit()


def broken_definitions() -> Iterable[str]:
    """What is wrong with the definitions that no DAG could be built from."""
    return [str(fault) for fault in Catalog(load_settings()).all()[1]]
