"""A Spark that is not there: told within ten seconds, and the archive stays free for others."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import BaseRequestHandler, TCPServer

import grpc
import pytest
from pyspark.sql.connect.client.retries import Retrying

from conftest import Home
from skyarchive.errors import SettingError, SparkError
from skyarchive.pipeline import connecting
from skyarchive.pipeline.connecting import assert_server_there, losses_told, master_there, patience
from skyarchive.settings import Settings
from skyarchive.store.lock import writing

IN_TIME = 10.0
"""Seconds that the wait may take."""
STARTING = 20.0
"""And those that a busy machine needs to start a Python with PySpark in it, at most."""


@contextmanager
def silent() -> Iterator[int]:
    """A port where somebody listens and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@contextmanager
def saying(what: bytes) -> Iterator[int]:
    """A port where somebody says that to whoever says something."""

    class Answer(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1)
            self.request.sendall(what)

    with TCPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextmanager
def refusing() -> Iterator[int]:
    """A port where nobody listens."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


@contextmanager
def other_server() -> Iterator[int]:
    """A port where something else is served."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@contextmanager
def unwelcoming(port: int = 0) -> Iterator[int]:
    """A gRPC server that knows another password."""

    class Refusal(grpc.ServerInterceptor):  # type: ignore[misc]
        def intercept_service(self, continuation: object, details: object) -> grpc.RpcMethodHandler:
            return grpc.unary_unary_rpc_method_handler(
                lambda request, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, "Invalid authentication token")
            )

    with ThreadPoolExecutor(1) as pool:
        server = grpc.server(pool, interceptors=[Refusal()])
        port = server.add_secure_port(f"localhost:{port}", grpc.local_server_credentials())
        server.start()
        yield port
        server.stop(None)


def test_an_absent_server_is_told_in_time_and_never_holds_the_archive(home: Home) -> None:
    home.generate("synthetic", "00000", objects=5, snapshots=10)
    with silent() as port, refusing() as closed, other_server() as web:
        addresses = [
            f"sc://localhost:{port}/;token=hush", f"sc://localhost:{closed}", f"sc://localhost:{web}",
            f"sc://localhost:{web}/;use_ssl=true",
            f"spark://localhost:{closed}", f"spark://localhost:{port}", f"spark://localhost:{web}",
        ]  # fmt: skip
        began = time.monotonic()
        runs = [
            subprocess.Popen(
                [sys.executable, "-c", "from skyarchive.cli import main; main()", "run", "synthetic"],
                env=os.environ | {"SKYARCHIVE_MASTER": address}, stderr=subprocess.PIPE, text=True,
            )
            for address in addresses
        ]  # fmt: skip
        try:
            while any(run.poll() is None for run in runs):
                assert time.monotonic() - began < IN_TIME + STARTING
                with writing(Settings(warehouse=str(home.folder / "warehouse"), lock_wait=0), "synthetic", print):
                    time.sleep(0.1)
        finally:
            for run in runs:
                run.kill()
        for address, run in zip(addresses, runs, strict=True):
            assert run.stderr is not None
            told = run.stderr.read().strip().splitlines()
            assert run.wait() == 1 and told[0].startswith("starting Spark")
            assert len(told) == 2 and f"answers at {address.split('/;')[0]}" in told[1], told
            assert "set SKYARCHIVE_MASTER" in told[1] and "hush" not in told[1]


@pytest.mark.parametrize(
    ("details", "why"),
    [
        ("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: "
         "Connection refused", "Failed to connect to remote host: Connection refused"),
        ("failed to connect to all addresses; last error: UNKNOWN: ipv6:%5B::1%5D:1: Tls handshake failed: self signed "
         "certificate: OK", "Tls handshake failed: self signed certificate"),
        ("errors resolving no.invalid:1: [field:hostname lookup error:address lookup failed for no.invalid:1: Domain "
         "name not found]", "Domain name not found"),
    ],
)  # fmt: skip
def test_why_a_server_cannot_be_reached_is_told(details: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unavailable(grpc.RpcError):  # type: ignore[misc]
        def code(self) -> grpc.StatusCode:
            return grpc.StatusCode.UNAVAILABLE

        def details(self) -> str:
            return details

    def release(*_: object) -> None:
        raise Unavailable

    monkeypatch.setattr(connecting, "_release", release)
    monkeypatch.setattr(connecting, "_PATIENCE", 0.1)
    with pytest.raises(SparkError, match=re.escape(f"{why}). Start it")):
        assert_server_there("sc://somewhere:1")


def test_a_server_that_comes_up_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_ASK_AGAIN", 0.1)
    with refusing() as port, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(assert_server_there, f"sc://localhost:{port}/;token=hush")
        time.sleep(1.0)
        with unwelcoming(port), pytest.raises(SparkError, match="does not know our password"):
            asked.result()


def test_a_wrong_password_and_a_wrong_server_are_told_apart() -> None:
    with unwelcoming() as port, pytest.raises(SparkError, match=f"sc://localhost:{port} does not know our password"):
        assert_server_there(f"sc://localhost:{port}/;token=hush")
    with other_server() as port, pytest.raises(SparkError, match=f"at sc://localhost:{port}"):
        assert_server_there(f"sc://localhost:{port}")


@pytest.mark.parametrize("address", ["sc://", "sc://host/path", "sc://host:port"])
def test_an_address_that_is_none_is_told(address: str) -> None:
    with pytest.raises(SettingError, match="no address of a Spark Connect server: write SKYARCHIVE_MASTER as"):
        assert_server_there(address)


@pytest.mark.parametrize("address", ["spark://host", "spark://host:port"])
def test_a_master_that_is_none_is_told(address: str) -> None:
    with pytest.raises(SettingError, match="no address of a Spark master"), master_there(address):
        pass


def test_what_fails_at_a_master_names_it() -> None:
    with saying(b"\0") as port, pytest.raises(SparkError, match=f"at spark://localhost:{port} did not take us on"):  # noqa: SIM117
        with master_there(f"spark://localhost:{port}"):
            raise RuntimeError("Cannot call methods on a stopped SparkContext.")


def test_one_of_several_masters_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "_PATIENCE", 0.4)
    with refusing() as closed, saying(b"\0") as port, saying(b"HTTP/1.1 400") as web:
        with master_there(f"spark://localhost:{closed},localhost:{port}"):
            pass
        with (
            pytest.raises(SparkError, match="what it says is not Spark's"),
            master_there(f"spark://localhost:{closed},localhost:{web}"),
        ):
            pass


def test_a_server_that_ends_while_it_works_is_told() -> None:
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    for gone in ("StatusCode.UNAVAILABLE: failed to connect", "[INVALID_HANDLE.SESSION_NOT_FOUND] ..."):
        with pytest.raises(SparkError, match="Spark at sc://here:1 has ended"), losses_told("sc://here:1/;token=hush"):
            raise SparkConnectGrpcException(gone)
    with pytest.raises(SparkConnectGrpcException), losses_told("sc://here:1"):
        raise SparkConnectGrpcException("[DIVIDE_BY_ZERO]")


class Away(grpc.RpcError):
    """What a call says of a server that is not there."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNAVAILABLE

    def trailing_metadata(self) -> None:
        return None


def test_a_server_that_is_away_is_waited_for_once() -> None:
    policy, waits = patience(), []
    for _ in range(3):
        with pytest.raises(Away), pytest.warns(UserWarning, match="RETRIES") if not waits else nullcontext():
            for attempt in Retrying(policy, waits.append):
                with attempt:
                    raise Away
    assert len(waits) == connecting._RETRIES and 10 < sum(waits) < 60


def test_a_server_that_comes_back_in_time_is_waited_for_again() -> None:
    policy, waits = patience(), []
    for times in (connecting._RETRIES, 2):
        left = iter([Away()] * times)
        for attempt in Retrying(policy, waits.append):
            with attempt:
                if error := next(left, None):
                    raise error
    assert len(waits) == connecting._RETRIES + 2
