"""Set-up: the locks, the habits, what the wheel carries, and how a missing Java is met."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.lock", "requirements-build.lock"]
TOOL_FILES = [*LOCKS, "Makefile", "setup.sh", "pyproject.toml", ".ci/run", "lib/skyarchive/jars.py"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(lock: str) -> dict[str, str]:
    """Requirement (name==version) to the rest of its entry."""
    entries = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)
    return {entry.split()[0]: entry for entry in entries if entry}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_requirement_has_a_version_and_a_hash(lock: str) -> None:
    entries = locked(lock)
    assert entries
    for requirement, entry in entries.items():
        assert re.fullmatch(r"[a-z0-9.-]+==[^=]+", requirement)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), requirement


def test_every_direct_dependency_is_pinned_and_locked() -> None:
    project = PROJECT["project"]
    direct = set(project["dependencies"]).union(*project["optional-dependencies"].values())
    assert direct <= set(locked("requirements.lock"))
    build = PROJECT["dependency-groups"]["build"]
    assert set(build) <= set(locked("requirements-build.lock"))
    assert set(PROJECT["build-system"]["requires"]) <= set(build)


def test_both_locks_agree() -> None:
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for requirement in locked(lock):
            name, version = requirement.split("==")
            versions.setdefault(name, set()).add(version)
    several = {name for name, found in versions.items() if len(found) > 1}
    assert not several & {requirement.split("==")[0] for requirement in locked("requirements-build.lock")}


@pytest.mark.parametrize("file", TOOL_FILES)
def test_no_download_address_is_written_down(file: str) -> None:
    text = (ROOT / file).read_text()
    assert not re.search(r"https?:|://|pypi\.org|maven\.org|--(extra-)?index-url \S", text)


def test_make_without_a_goal_lists_the_habits() -> None:
    shown = subprocess.run(["make", "-C", str(ROOT)], capture_output=True, text=True, check=True).stdout
    assert {"setup", "demo", "test", "lint", "bench", "clean"} <= set(re.findall(r"^make (\w+)", shown, re.M))


def test_the_wheel_carries_schemas_and_sums(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        carried = set(wheel.namelist())
    schemas = {f"skyarchive/{p.relative_to(ROOT)}" for p in (ROOT / "schemas").rglob("*.*")}
    assert schemas
    assert schemas | {"skyarchive/settings.py", "skyarchive/delta_jars.sha256"} <= carried
    assert not any("__pycache__" in name for name in carried)


class Machine:
    """A PATH with a few tools, no Java and no Python, on which setup.sh gets no further than the latter."""

    TOOLS = ("cat", "chmod", "cksum", "cp", "dirname", "grep", "mkdir", "printf", "rm", "sed", "sh", "tr")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.jvms = folder / "jvms"
        for tool in self.TOOLS:
            if path := shutil.which(tool):
                (self.bin / tool).symlink_to(path)
        shutil.copy(ROOT / "setup.sh", folder)

    def tool(self, name: str, script: str, folder: Path | None = None) -> None:
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def java(self, version: str, folder: Path | None = None) -> None:
        self.tool("java", f"echo 'openjdk version \"{version}\" 2025-01-21' >&2", folder)

    def setup(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "setup.sh")],
            env={"PATH": str(self.bin), "JVM_ROOT": str(self.jvms), **environment},
            capture_output=True,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


NEEDS_JAVA = "setup: Spark needs Java 17 or 21"
NEEDS_PYTHON = "setup: Python 3.11, 3.12 or 3.13 is needed"


@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.1-ea"])
def test_a_fitting_java_is_accepted(machine: Machine, version: str) -> None:
    machine.java(version)
    done = machine.setup()
    assert done.returncode == 1
    assert done.stderr.startswith(NEEDS_PYTHON)


@pytest.mark.parametrize("version", [None, "1.8.0_392", "11.0.2", "25"])
def test_without_a_fitting_java_one_sentence_says_what_to_install(machine: Machine, version: str | None) -> None:
    machine.tool("id", "echo 1000")
    if version:
        machine.java(version)
    done = machine.setup()
    assert done.returncode == 1
    assert done.stderr.startswith(NEEDS_JAVA)
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_java_home_comes_before_path_and_other_places_last(machine: Machine) -> None:
    machine.tool("id", "echo 1000")
    machine.java("11", machine.folder / "eleven" / "bin")
    assert machine.setup(JAVA_HOME=str(machine.folder / "eleven")).stderr.startswith(NEEDS_JAVA)
    machine.java("21", machine.jvms / "any" / "bin")
    assert machine.setup(JAVA_HOME=str(machine.folder / "eleven")).stderr.startswith(NEEDS_PYTHON)


@pytest.mark.parametrize("offered", ["openjdk-17-jre-headless", "openjdk-21-jre-headless"])
@pytest.mark.skipif(
    not Path("/etc/debian_version").exists(), reason="only on Debian and Ubuntu does set-up install anything"
)
def test_root_on_debian_gets_a_java_installed(machine: Machine, offered: str) -> None:
    machine.tool("id", "echo 0")
    java = machine.jvms / "new" / "bin"
    machine.java("17", machine.folder / "package")
    machine.tool(
        "apt-get",
        f"""echo "$@" >>{machine.folder}/asked
        case "$*" in
            *install*{offered}) mkdir -p {java} && cp {machine.folder}/package/java {java} ;;
            *install*) exit 100 ;;
        esac""",
    )
    done = machine.setup()
    asked = (machine.folder / "asked").read_text().splitlines()
    assert asked[0].endswith("update") and asked[1].endswith("openjdk-17-jre-headless")
    assert asked[-1].endswith(offered)
    assert f"installed the system package {offered}" in done.stdout
    assert done.stderr.startswith(NEEDS_PYTHON)


def test_a_python_without_venv_is_explained(machine: Machine) -> None:
    machine.java("17")
    machine.tool("id", "echo 1000")
    machine.tool("python3", f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec {sys.executable} "$@"')
    done = machine.setup()
    assert done.returncode == 1
    assert f"python{sys.version_info[0]}.{sys.version_info[1]}-venv" in done.stderr
    assert not os.path.lexists(machine.folder / ".venv")
