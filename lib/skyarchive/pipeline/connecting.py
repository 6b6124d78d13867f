"""The way to a Spark that runs elsewhere: whether it is there is asked first, within seconds, and a session on a Spark
Connect server is kept alive while this process lives and given back at its end."""

import atexit
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skyarchive.errors import SettingError, SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it tells of every attempt on stderr; we say how it ended

CONNECT = "sc://"
_PATIENCE = 6.0
"""Seconds in which a server must say something: a program that waits for it has ended within ten."""
_ASK_AGAIN = 0.5
_BEAT = 30.0
"""Seconds between signs of life. A server of ours closes a session after ten times that without any."""
SESSION_TIMEOUT = 10 * _BEAT
_RETRIES, _LONGEST = 7, 10_000
"""How often, and at most how many milliseconds between: half a minute. PySpark's own retries go on for ten, though a
server that was away for that long has lost our session."""
_LOST = (
    "StatusCode.UNAVAILABLE", "Connection reset",
    "INVALID_HANDLE.SESSION_", "INVALID_HANDLE.OPERATION_ABANDONED", "INVALID_HANDLE.OPERATION_NOT_FOUND",
)  # fmt: skip
_SHOWN = 200
"""Characters of somebody else's error that ours has."""
_STREAM_REQUEST = b"\x06"
_MAY_BE_SPARK = (b"\x00", b"\x15", b"")
"""First byte of a master's answer: of its length, of an alert where it wants TLS; or it hangs up."""
_WHERE = re.compile(r"^[A-Z_]+: ipv[46]:\S+: ")
_START_IT = "Start it (`python -m skyarchive.orchestration.spark_server` is one)"
_ELSEWHERE = "set SKYARCHIVE_MASTER to where Spark runs, or to local[*]"


def shown(address: str) -> str:
    """An address without its parameters, one of which is a password."""
    return address.partition("/;")[0].partition(";")[0]


def connected_session(address: str, app: str, settings: dict[str, str]) -> "SparkSession":
    """A session on the Connect server there, or an error within seconds."""
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    assert_server_there(address)
    before: Any = ConnectSession._get_default_session()
    builder = SparkSession.builder.remote(address).appName(app)
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if session is not before:
        _cared_for(session)
    return session


def assert_server_there(address: str) -> None:
    """Ends with a sentence unless a Spark Connect server answers, and answers us."""
    import grpc

    deadline = time.monotonic() + _PATIENCE
    why = "not a word"
    while True:
        left = max(deadline - time.monotonic(), 0.0)
        try:
            _release(address, "", str(uuid.uuid4()), left)
            return
        except grpc.RpcError as error:
            code, details = error.code(), error.details() or ""
            if code is grpc.StatusCode.UNAVAILABLE:
                why = _reason(details)
            elif code is not grpc.StatusCode.DEADLINE_EXCEEDED:
                raise SparkError(_refusal(shown(address), code.name, details)) from error
            if left < _ASK_AGAIN:
                raise SparkError(
                    f"No Spark answers at {shown(address)}, asked for {_PATIENCE:.0f} s ({why}). {_START_IT}, or "
                    f"{_ELSEWHERE}."
                ) from error
        time.sleep(_ASK_AGAIN)


def _reason(details: str) -> str:
    """What is new to a reader of gRPC's words."""
    last = details.rpartition("last error: ")[2].removesuffix(": OK").rstrip("]")
    return _WHERE.sub("", last)[-_SHOWN:]


def _refusal(place: str, code: str, details: str) -> str:
    if code == "UNAUTHENTICATED":
        return (
            f"Spark at {place} does not know our password: give the one that it was started with "
            f"(SPARK_CONNECT_AUTHENTICATE_TOKEN) in SKYARCHIVE_MASTER, as {place}/;token=PASSWORD."
        )
    why = f"{code}: {details}".splitlines()[0]
    return f"What answers at {place} is no Spark Connect server ({why[:_SHOWN]}); {_ELSEWHERE}."


def _release(address: str, user: str, session_id: str, patience: float) -> None:
    """Gives a session back. To ask for one that is not there costs the server nothing, and tells that it is one."""
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.client.core import DefaultChannelBuilder
    from pyspark.sql.connect.proto import ReleaseSessionRequest
    from pyspark.sql.connect.proto.base_pb2_grpc import SparkConnectServiceStub

    try:
        builder = DefaultChannelBuilder(address)
    except (PySparkException, ValueError) as error:
        raise SettingError(
            f"{shown(address)} is no address of a Spark Connect server: write SKYARCHIVE_MASTER as sc://host:15002 or "
            "sc://host:15002/;token=PASSWORD."
        ) from error
    request = ReleaseSessionRequest(session_id=session_id)
    request.user_context.user_id = user
    with closing(builder.toChannel()) as channel:
        SparkConnectServiceStub(channel).ReleaseSession(request, timeout=patience, metadata=builder.metadata())


def _cared_for(session: "SparkSession") -> None:
    client: Any = session.client
    client.set_retry_policies([patience()])
    threading.Thread(target=_keep_alive, args=(session,), daemon=True, name="sign of life").start()
    atexit.register(end_connection, session)


def patience() -> Any:
    """How a server that is away is waited for: once. Whoever goes on after an error, as Great Expectations does with
    every expectation, would wait half a minute again each time."""
    from pyspark.sql.connect.client.retries import DefaultPolicy, RetryPolicyState

    class Once(DefaultPolicy):
        given_up = False

        def can_retry(self, error: BaseException) -> bool:
            return not self.given_up and super().can_retry(error)

        def to_state(self) -> RetryPolicyState:
            return State(self)

    class State(RetryPolicyState):
        def next_attempt(self, exception: BaseException | None = None) -> int | None:
            wait = super().next_attempt(exception)
            policy.given_up = wait is None
            return wait

    policy = Once(max_retries=_RETRIES, max_backoff=_LONGEST)
    return policy


def _keep_alive(session: Any) -> None:
    """A step may compute here for minutes, or wait for the archive, and the server must not take it for dead."""
    resting = threading.Event()
    while not resting.wait(_BEAT) and not session.is_stopped:
        with suppress(Exception):  # whoever uses the session will be told
            session.conf.get("spark.sql.session.timeZone")


def end_connection(session: Any) -> None:
    """Gives the session back with all that the server keeps for it; does not wait for a server that is away."""
    session.client.set_retry_policies([])
    if not session.is_stopped:
        session.stop()


def session_key(session: Any) -> str:
    """What another process needs to give this session back in our place."""
    return f"{session.client._user_id or ''} {session.session_id}"


def release_left(address: str, key: str) -> None:
    """Gives back the session of a process that was killed: what it had begun stops, what is kept for it goes."""
    import grpc

    user, _, session_id = key.rpartition(" ")
    with suppress(grpc.RpcError):
        _release(address, user, session_id, _PATIENCE)


@contextmanager
def losses_told(address: str) -> Iterator[None]:
    """While open, an error that comes of a server's end says so."""
    if not address.startswith(CONNECT):
        yield
        return
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    try:
        yield
    except PySparkException as error:
        session: Any = ConnectSession._get_default_session()
        if not any(sign in str(error) for sign in _LOST):
            raise
        if session is not None:
            end_connection(session)  # else every frame we let go of would look for the server again
        raise SparkError(
            f"Spark at {shown(address)} has ended, or lost our session, while it worked for us. What was published "
            "before stays; run this again when it is back."
        ) from error


@contextmanager
def master_there(address: str) -> Iterator[None]:
    """While open, Spark looks for a standalone master; ends with a sentence within seconds if there is none."""
    if not address.startswith("spark://"):
        yield
        return
    _assert_master_there(address)
    try:
        yield
    except Exception as error:
        raise SparkError(
            f"What answers at {address} did not take us on as a Spark master would (more is in the log). Look at its "
            f"own log, or {_ELSEWHERE}."
        ) from error


def _assert_master_there(address: str) -> None:
    places = [urlsplit(f"spark://{place}") for place in address.removeprefix("spark://").split(",")]
    why = ""
    for place in places:
        try:
            if place.hostname is None or place.port is None:
                raise SettingError(f"{address} is no address of a Spark master: write spark://host:7077.")
            answer = _asked_for_a_stream(place.hostname, place.port, _PATIENCE / len(places))
        except TimeoutError:
            why = "not a word"
        except ValueError as error:
            raise SettingError(f"{address} is no address of a Spark master: {error}.") from error
        except OSError as error:
            why = error.strerror or str(error)
        else:
            if answer[:1] in _MAY_BE_SPARK:
                return
            why = "what it says is not Spark's"
    raise SparkError(f"No Spark master answers at {address} ({why}). Start it, or {_ELSEWHERE}.")


def _asked_for_a_stream(host: str, port: int, patience: float) -> bytes:
    """What is answered to one of the messages that Spark's processes send each other: asked for a stream that it has
    not, a master says so, also one that would ask for a password next. Spark itself tries for more than a minute."""
    name = b"/files/is anybody there"
    body = _STREAM_REQUEST + len(name).to_bytes(4, "big") + name
    with socket.create_connection((host, port), patience) as connection:
        connection.settimeout(patience)
        connection.sendall((8 + len(body)).to_bytes(8, "big") + body)
        return connection.recv(1)
