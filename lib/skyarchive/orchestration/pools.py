"""`python -m skyarchive.orchestration.pools`: a pool with one slot for every archive, in the environment's Airflow.

Run it again after adding an archive: until its pool is there, Airflow leaves its tasks waiting.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skyarchive.catalog import Catalog
from skyarchive.errors import SkyarchiveError
from skyarchive.orchestration.naming import pool_of
from skyarchive.settings import Settings, load_settings


def make_pools(settings: Settings, environment: Mapping[str, str]) -> None:
    """One slot serialises an archive's writers, which a local disk needs."""
    pools = {
        pool_of(name): {"slots": 1, "description": f"writers of {name}", "include_deferred": False}
        for name in Catalog(settings).names()
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pools.json"
        file.write_text(json.dumps(pools), encoding="utf-8")
        airflow("pools", "import", str(file), environment=environment)


def airflow(*arguments: str, environment: Mapping[str, str]) -> str:
    """`airflow ...` with an environment; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "airflow", *arguments], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        said = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        raise SkyarchiveError(f"airflow {' '.join(arguments[:2])} failed: {said[-1] if said else 'no message'}")
    return done.stdout


if __name__ == "__main__":
    make_pools(load_settings(), os.environ)
