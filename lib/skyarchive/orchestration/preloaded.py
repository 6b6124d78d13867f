"""Imports everything that a task imports, so that Airflow does it once: it forks tasks from a process that has it.

Great Expectations, PySpark and pandas take eight seconds of a core, in every task if it starts without them. Named
in Airflow's settings as `[scheduler] mp_forkserver_preload`, with `mp_start_method = forkserver`.
"""

from importlib import import_module

from skyarchive.pipeline.step import all_steps

_OF_STEPS = [place.partition(":")[0] for step in all_steps() for place in (step.body, step.audit) if place]

for _name in (
    "airflow.executors.local_executor",
    "airflow.sdk.execution_time.supervisor",
    "airflow.sdk.execution_time.task_runner",
    "pyspark.sql.connect.session",  # before what imports parts of it
    "skyarchive.orchestration.tasks",
    *_OF_STEPS,
    "skyarchive.pipeline.refreshing",
    "skyarchive.pipeline.auditing",
    "skyarchive.pipeline.maintaining",
    "skyarchive.quality.gx",
):
    import_module(_name)
