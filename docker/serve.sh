#!/bin/bash
# What a container of the image is: one of Airflow's services, one of Spark's, or any command.
set -euo pipefail

case "${1:-}" in
    airflow-init)
        python -m skyarchive.orchestration.passwords
        airflow db migrate
        exec python -m skyarchive.orchestration.pools
        ;;
    spark-master)
        exec "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master \
            --host "${SPARK_HOST:-$(hostname)}" --port 7077 --webui-port 8080
        ;;
    spark-worker)
        exec "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker \
            --webui-port 8081 "spark://${SPARK_MASTER_HOST:-spark-master}:7077"
        ;;
    spark-connect)
        exec python -m skyarchive.orchestration.spark_server
        ;;
    *)
        exec "$@"
        ;;
esac
