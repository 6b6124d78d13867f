"""The one place that builds a SparkSession: local by default, a cluster or Spark Connect by setting."""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skyarchive.jars import delta_jars
from skyarchive.pipeline.connecting import CONNECT, SESSION_TIMEOUT, connected_session, master_there
from skyarchive.pipeline.java import assert_jvm_can_start
from skyarchive.settings import Settings
from skyarchive.stderr import stderr_into

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit for the Python program it runs."""

_QUERY_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""PySpark's own loggers, which print every failed query as JSON to stderr."""

SHORT_LIVED_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
"""JDK_JAVA_OPTIONS of a JVM that ends soon: thorough compilation would not pay. Java allows quick compilation alone a
fifth of the usual room, which Spark fills: what was compiled is thrown away and compiled again."""

# Spark's defaults are for clusters; on one machine they cost seconds for every small table.
_EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # Spark has no times as fine as nanoseconds, which pandas writes: as numbers they come to us, who make them times.
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    # Where in Python each column was made, for error messages nobody sees: half the time of building a plan.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Min/max pruning of cached frames forgets that NaN is above every number: `x > 1e308` would find none.
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
}
# What a JVM remembers of jobs that have ended, for pages that nobody opens: a thousand plans of each kind by default.
_SHORT_MEMORY = {
    "spark.sql.ui.retainedExecutions": "20",
    "spark.sql.connect.ui.retainedSessions": "20",
    "spark.sql.connect.ui.retainedStatements": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
}
# A server lives for months and its clients may be killed at any moment. What they leave goes with their sessions.
_SERVING = {
    "spark.connect.session.manager.defaultSessionTimeout": f"{SESSION_TIMEOUT:.0f}s",
    "spark.connect.session.manager.maintenanceInterval": "15s",
    "spark.connect.execute.manager.detachedTimeout": "60s",  # longer than our clients try to come back
    "spark.connect.execute.manager.abandonedTombstonesSize": "100",
    # Checkpoints, broadcasts and shuffles of a session that has gone are only removed after a full collection.
    "spark.cleaner.periodicGC.interval": "10min",
}
_CONNECTED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    # We bring no files or classes of our own. Isolated, every session starts Python workers of its own, which import
    # pandas and the kernels before they begin.
    "spark.sql.artifact.isolation.enabled": "false",
}
_ONE_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "16",
    "spark.default.parallelism": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "512",
}


def build_session(settings: Settings, app: str = "skyarchive", *, verbose: bool = False) -> "SparkSession":
    """A session for `settings.master`. Spark's own lines go to the log file unless `verbose`."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if settings.master.startswith(CONNECT):
        return connected_session(settings.master, app, _CONNECTED)

    builder = SparkSession.builder.appName(app)
    if _SUBMITTED in os.environ:
        # spark-submit has started the JVM: its master, memory and jars count, not ours.
        for key, value in _EVERYWHERE.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()
    if SparkContext._gateway is None:
        assert_jvm_can_start()
    builder = builder.master(settings.master)
    for key, value in _configuration(settings).items():
        builder = builder.config(key, value)
    # Workers must run the interpreter that has this package, whatever `python3` is on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if _is_local(settings):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if verbose:
        with _nothing_left_behind(), master_there(settings.master):
            return builder.getOrCreate()
    _quieten()
    with stderr_into(settings.log_file), _nothing_left_behind(), master_there(settings.master):
        session = builder.getOrCreate()
    return session


def _quieten() -> None:
    """Silences what PySpark prints beside the errors that it raises: of failed queries, and when the JVM ends."""
    from pyspark import accumulators
    from pyspark.logger import PySparkLogger

    for name in _QUERY_LOGGERS:
        PySparkLogger.getLogger(name).addFilter(lambda record: False)
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    for server in (accumulators.AccumulatorTCPServer, accumulators.AccumulatorUnixServer):
        server.handle_error = lambda *_: None  # type: ignore[method-assign]


@contextmanager
def _nothing_left_behind() -> Iterator[None]:
    """Ends the JVM with us where its start is interrupted: once it is up it follows us by itself, but before that it
    looks for a folder that PySpark has removed on its way out, and would stay for ever."""
    import psutil  # type: ignore[import-untyped]
    from pyspark import SparkContext

    before = set(psutil.Process().children(recursive=True))
    try:
        yield
    except BaseException:
        if SparkContext._gateway is None:
            for process in set(psutil.Process().children(recursive=True)) - before:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        raise


_FOR_SMALL_WORK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}


@contextmanager
def fitting_work(spark: "SparkSession", large: bool) -> Iterator[None]:
    """While open, Spark plans for the size of the work: compiling stages and replanning them as they run takes
    seconds, which a small period never earns back."""
    changed = {} if large else _FOR_SMALL_WORK
    before = {key: spark.conf.get(key) or "" for key in changed}
    for key, value in changed.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def _is_local(settings: Settings) -> bool:
    return settings.master.startswith("local")


def server_configuration(settings: Settings) -> dict[str, str]:
    """What a Spark Connect server must be started with, as its clients cannot say it."""
    return _configuration(settings) | _SERVING | {"spark.master": settings.master}


def _configuration(settings: Settings) -> dict[str, str]:
    conf = _EVERYWHERE | _SHORT_MEMORY
    conf["spark.python.daemon.module"] = "skyarchive.worker_daemon"
    conf["spark.jars"] = ",".join(str(jar) for jar in delta_jars(settings))
    conf["spark.driver.memory"] = settings.driver_memory
    # Tables are named by their paths; Spark's own catalog must leave nothing in the working folder.
    conf["spark.sql.warehouse.dir"] = str(Path(tempfile.gettempdir()) / "skyarchive-spark-catalog")
    if _is_local(settings):
        conf |= _ONE_MACHINE
        # Fewer threads than G1 on few cores; and no full collection each time that more classes are there.
        conf["spark.driver.extraJavaOptions"] = "-XX:+UseParallelGC -XX:MetaspaceSize=256m"
    return conf
