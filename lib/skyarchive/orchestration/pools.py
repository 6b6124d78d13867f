"""`python -m skyarchive.orchestration.pools`: a pool with one slot for every archive, in the environment's Airflow.

Run it again after adding an archive: until its pool is there, Airflow leaves its tasks waiting.
"""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from skyarchive.definition.catalog import Catalog
from skyarchive.orchestration.airflow_cli import airflow_in_turn
from skyarchive.orchestration.naming import pool_of
from skyarchive.settings import Settings, load_settings


def make_pools(settings: Settings, environment: Mapping[str, str], *, after: Sequence[Sequence[str]] = ()) -> None:
    """One slot serialises an archive's writers, which a local disk needs. `after`: commands that come before."""
    pools = {
        pool_of(name): {"slots": 1, "description": f"writers of {name}", "include_deferred": False}
        for name in Catalog(settings).names()
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pools.json"
        file.write_text(json.dumps(pools), encoding="utf-8")
        airflow_in_turn([*after, ["pools", "import", str(file)]], environment)


if __name__ == "__main__":
    make_pools(load_settings(), os.environ)
