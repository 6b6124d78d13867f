"""The DAGs: two per archive, built from its definition, and two for all. Parsed all the time, so nothing heavy here."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from airflow.sdk import DAG, Asset, CronPartitionTimetable, Param, PartitionedAssetTimetable, task

from skyarchive.definition.catalog import Catalog
from skyarchive.definition.model import Definition
from skyarchive.names import PERIOD
from skyarchive.orchestration import docs
from skyarchive.orchestration.naming import AUDIT, MAINTENANCE, asset_uri, compute_id, ingest_id, pool_of
from skyarchive.orchestration.notifying import notify_failure
from skyarchive.pipeline.step import Step, names_of, steps_of
from skyarchive.settings import load_settings

_FIRST = 10
"""Weight of a task that goes before others."""
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
    """From raw files to the update log of one period, and to all else that needs no more; tells who waits for it."""
    archive, timing = definition.name, definition.timing
    timetable = (
        CronPartitionTimetable(timing.cron, timezone="UTC", run_offset=timing.offset, key_format=timing.key)
        if timing
        else None
    )
    with _dag(ingest_id(archive), definition, timetable, docs.INGEST) as dag:
        _chained(archive, begun_with(definition))
    return dag


def compute_dag(definition: Definition) -> DAG:
    """What stands on a period's handed-over results, as soon as they are published; then what became stale by it."""
    archive = definition.name
    (updates,) = (step.asset for step in steps_of(definition) if step.hands_over)
    timetable = PartitionedAssetTimetable(assets=Asset(asset_uri(archive, updates)))
    begun = begun_with(definition)
    with _dag(compute_id(archive), definition, timetable, docs.COMPUTE) as dag:
        tasks = _chained(archive, [step for step in steps_of(definition) if step not in begun])
        refresh = _refresh(archive)
        for last in [made for made in tasks if not made.operator.downstream_list]:
            last >> refresh
    return dag


def begun_with(definition: Definition) -> list[Step]:
    """The steps that do not wait for what another one hands over."""
    begun: list[Step] = []
    for step in steps_of(definition):
        done = {it.name for it in begun if not it.hands_over}
        if all(need.step in done for need in step.needs if need.is_own):
            begun.append(step)
    return begun


def _chained(archive: str, steps: Sequence[Step]) -> list[Any]:
    """A task for every step, each after those that it needs of the same period."""
    tasks: dict[str, Any] = {}
    for step in steps:
        tasks[step.name] = _step(archive, step)
        for name in dict.fromkeys(need.step for need in step.needs if need.is_own and need.step in tasks):
            tasks[name] >> tasks[step.name]
    return list(tasks.values())


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
        doc_md=doc.format(archive=archive, title=definition.title, steps=", ".join(names_of(definition))),
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


def _step(archive: str, step: Step) -> Any:
    outlets = [Asset(asset_uri(archive, step.asset))] if step.asset else []

    # What others wait for comes first where one pool slot is to be had.
    @task(
        task_id=step.name,
        outlets=outlets,
        doc_md=step.doc.format(archive=archive),
        priority_weight=_FIRST if step.hands_over else 1,
    )
    def run(**context: Any) -> dict[str, Any]:
        from skyarchive.orchestration.tasks import run_step

        return run_step(archive, step.name, context, outlets)

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
