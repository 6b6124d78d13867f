"""What Airflow runs, and how: DAGs built from the archive definitions, the tasks' work, and backfills."""
