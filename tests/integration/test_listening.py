"""Spark on one machine is for this machine only. (The private Airflow is watched by the tests of its scheduler.)"""

from pyspark.sql import SparkSession

from listening import reachable, watched


def test_nothing_of_a_local_spark_can_be_reached_from_another_machine(spark: SparkSession) -> None:
    with watched() as seen:
        assert spark.range(10).mapInArrow(lambda batches: batches, "id long").count() == 10
    assert {"java", "python"} <= {who.split()[0].rpartition("/")[2].rstrip(".0123456789") for who in seen.values()}
    assert reachable(seen) == {}
