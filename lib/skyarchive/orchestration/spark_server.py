"""A Spark Connect server: one JVM that stays up, so that no task waits for one to start.

`python -m skyarchive.orchestration.spark_server` is one, on the master of the settings, until it is ended.
"""

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from skyarchive.pipeline.session import server_configuration
from skyarchive.settings import Settings, load_settings

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
"""The environment variable with the password of the server; Spark's own name."""
HOST, PORT = "SPARK_CONNECT_HOST", "SPARK_CONNECT_PORT"


def new_token() -> str:
    return secrets.token_urlsafe(24)


def start_server(settings: Settings, port: int, token: str, log: Path) -> subprocess.Popen[bytes]:
    """Starts a server on the loopback that answers only who knows the token. Its lines go to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    command = _command(settings, "127.0.0.1", port, log.with_name("spark-server.conf"))
    environment = _environment() | {TOKEN: token, "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("ab") as lines:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, env=environment, start_new_session=True
        )


def _command(settings: Settings, host: str, port: int, properties: Path) -> list[str]:
    import pyspark

    conf = server_configuration(settings) | {
        "spark.connect.grpc.binding.address": host,
        "spark.connect.grpc.binding.port": str(port),
        "spark.log.level": "WARN",  # otherwise two thousand lines a step
    }
    properties.write_text("".join(f"{key} {value}\n" for key, value in conf.items()), encoding="utf-8")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [str(submit), "--properties-file", str(properties), "--class", _CLASS, "spark-internal"]


def _environment() -> dict[str, str]:
    # Workers must run the interpreter that has this package, whatever `python3` is on the PATH.
    return os.environ | {"PYSPARK_PYTHON": sys.executable}


if __name__ == "__main__":
    file = Path(tempfile.mkdtemp()) / "spark-server.conf"
    serve = _command(load_settings(), os.environ.get(HOST, "127.0.0.1"), int(os.environ.get(PORT, "15002")), file)
    os.execvpe(serve[0], serve, _environment())
