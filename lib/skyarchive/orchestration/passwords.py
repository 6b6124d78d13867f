"""`python -m skyarchive.orchestration.passwords`: the login of Airflow's simple auth manager, from the environment."""

import json
import os
import sys
from pathlib import Path

USER = "admin"
PASSWORD = "SKYARCHIVE_AIRFLOW_PASSWORD"
FILE = "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"


def write_password(file: Path, password: str) -> None:
    """Readable by this user only."""
    file.touch(0o600)
    file.chmod(0o600)
    file.write_text(json.dumps({USER: password}), encoding="utf-8")


if __name__ == "__main__":
    if not os.environ.get(PASSWORD) or not os.environ.get(FILE):
        sys.exit(f"Set {PASSWORD} and {FILE}: Airflow has no default password.")
    write_password(Path(os.environ[FILE]), os.environ[PASSWORD])
