"""Two Airflow DAGs per archive: ARCHIVE_ingest and ARCHIVE_compute. A new definition makes its own appear."""

from skyarchive.orchestration.dags import archive_dags

for dag in archive_dags():
    globals()[dag.dag_id] = dag
