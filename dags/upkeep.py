"""The Airflow DAGs that look after all archives: maintenance of the tables, and an audit of the answers."""

from skyarchive.orchestration.dags import audit_dag, maintenance_dag

maintenance = maintenance_dag()
audit = audit_dag()
