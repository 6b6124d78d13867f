"""The compose file: pinned images, health checks, and no password that anybody could guess."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from skyarchive.orchestration.local_airflow import LocalAirflow
from skyarchive.settings import Settings

DOCKER = Path(__file__).resolve().parents[2] / "docker"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))


def test_every_service_is_watched_and_starts_again(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        if name == "airflow-init":
            assert service["restart"] == "no"
        else:
            assert service["restart"] == "unless-stopped" and service["healthcheck"]["test"]


def test_images_are_pinned(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert re.search(r":\d[\w.-]*\}?$", service["image"])
    base = re.search(r"^FROM (\S+)$", (DOCKER / "Dockerfile").read_text("utf-8"), re.M)
    assert base and re.fullmatch(r"python:\d+\.\d+\.\d+-\S+", base[1])


def test_secrets_have_no_default_and_the_example_leaves_them_empty(compose: dict[str, Any]) -> None:
    text = (DOCKER / "compose.yaml").read_text("utf-8")
    used = set(re.findall(r"\$\{(\w*(?:PASSWORD|SECRET|KEY)\w*)([^}]*)", text))
    assert {name for name, _ in used} >= {"POSTGRES_PASSWORD", "SKYARCHIVE_AIRFLOW_PASSWORD", "AIRFLOW_FERNET_KEY"}
    assert all(rest.startswith(":?") for _, rest in used)
    example = dict(re.findall(r"^(\w+)=(.*)$", (DOCKER / "example.env").read_text("utf-8"), re.M))
    assert {name: example[name] for name, _ in used} == {name: "" for name, _ in used}


def test_what_the_image_can_be_is_what_the_services_ask_for(compose: dict[str, Any]) -> None:
    known = set(re.findall(r"^    ([\w-]+)\)$", (DOCKER / "serve.sh").read_text("utf-8"), re.M))
    asked = {service["command"][0] for service in compose["services"].values() if "command" in service}
    assert asked - {"airflow"} == known


def test_tasks_start_as_in_the_private_airflow_that_the_tests_run(compose: dict[str, Any], tmp_path: Path) -> None:
    tested = LocalAirflow(tmp_path, Settings()).environment
    asked = compose["services"]["airflow-scheduler"]["environment"]
    for name in ("MP_START_METHOD", "MP_FORKSERVER_PRELOAD"):
        assert asked[f"AIRFLOW__SCHEDULER__{name}"] == tested[f"AIRFLOW__SCHEDULER__{name}"]
