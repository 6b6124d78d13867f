"""A Spark Connect server of one's own: one JVM that stays up, so that no task waits for one to start."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

from skyarchive.session import server_configuration
from skyarchive.settings import Settings

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
"""The environment variable with the password of the server."""


def new_token() -> str:
    return secrets.token_urlsafe(24)


def start_server(settings: Settings, port: int, token: str, log: Path) -> subprocess.Popen[bytes]:
    """Starts a server on the loopback that answers only who knows the token. Its lines go to the log."""
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    conf = server_configuration(settings) | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    # In a file, not on the command line, which every user of the machine can read.
    properties = log.with_name("spark-server.conf")
    log.parent.mkdir(parents=True, exist_ok=True)
    properties.write_text("".join(f"{key} {value}\n" for key, value in conf.items()), encoding="utf-8")
    environment = os.environ | {
        TOKEN: token,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [submit, "--properties-file", properties, "--class", _CLASS, "spark-internal"]
    with log.open("ab") as lines:
        return subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=lines, stderr=lines, env=environment,
            start_new_session=True,
        )
