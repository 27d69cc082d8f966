"""Clients that misbehave, and a daemon that goes on answering."""

import contextlib
import json
import os
import resource
import socket

import pytest

import programs
from container import wait_for
from desktop import WindowReporter
from driver import call, connect

LIST = json.dumps({"method": "org.lifed.List"}).encode() + b"\0"


@contextlib.contextmanager
def connected(lifed):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(60)
        client.connect(lifed.address)
        yield client


def answer(lifed):
    """Has the daemon answer a well-behaved client, however busy it is with others; the socket's timeout bounds a failure."""
    with connected(lifed) as client:
        client.sendall(LIST)
        reply = b""
        while not reply.endswith(b"\0"):
            part = client.recv(65536)
            assert part, "the daemon hung up on a well-behaved client"
            reply += part
    assert "apps" in json.loads(reply[:-1])["parameters"]


def assert_answers(lifed, pid):
    answer(lifed)
    assert lifed.pid == pid


def send_and_ignore(client, data):
    """Sends what the daemon takes; being cut off is what the client deserves."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
        client.sendall(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\xff\xfe garbage \x80\0",
        b"\0\0\0\0",
        b"{}\0",
        b"[]\0",
        b'{"method": 7}\0',
        b'{"method": "org.lifed.Focus", "parameters": {"id": 7}}\0',
        b'{"method": "org.lifed.Focus", "parameters": []}\0',
        b'{"method": "org.lifed.Launch", "parameters": {"id": "\\u0000/../../etc"}}\0',
        b'{"method": "no.such.interface.Method"}\0',
        b'{"method": "org.lifed.List", "par',
    ],
    ids=lambda data: repr(data[:40]),
)
def test_garbage_and_half_messages(lifed, data):
    pid = lifed.pid
    with connected(lifed) as client:
        send_and_ignore(client, data)
        assert_answers(lifed, pid)
    assert_answers(lifed, pid)


def test_a_message_of_ten_megabytes(lifed):
    pid = lifed.pid
    with connected(lifed) as client:
        client.settimeout(2)
        send_and_ignore(client, b'{"method": "' + b"x" * 10_000_000)
        assert_answers(lifed, pid)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_ten_thousand_levels(lifed, opening):
    pid = lifed.pid
    with connected(lifed) as client:
        send_and_ignore(client, b'{"method": "org.lifed.List", "parameters": ' + opening * 10_000 + b"\0")
        assert_answers(lifed, pid)


def test_a_url_that_is_too_long_is_refused_before_its_file_is_looked_at(direct):
    """The type of a file with half a million endings takes seconds to find."""
    with connect(str(direct.socket)) as client:
        refusal = call(client, "org.lifed.Open", {"url": "file:///" + "a." * 500_000, "type": "nonsense"})
    assert (refusal["error"], refusal["parameters"]) == ("org.varlink.service.InvalidParameter", {"parameter": "url"})


def test_two_thousand_connections(lifed):
    pid = lifed.pid
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip(f"this process may have {hard} descriptors only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, hard))
    before = lifed.kernel.descriptors(pid)
    clients = []
    try:
        for _ in range(2000):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            clients.append(client)
            client.settimeout(2)
            with contextlib.suppress(OSError):
                client.connect(lifed.address)
        # The clients that were idle longest have made room: the last client, which has something to say, is answered.
        assert_answers(lifed, pid)
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_for(lambda: lifed.kernel.descriptors(pid) <= before)
    assert_answers(lifed, pid)


def test_a_monitor_that_never_reads(lifed):
    pid = lifed.pid
    lifed.lifectl.start("noisy", *programs.IDLE)
    with connected(lifed) as client, connected(lifed) as driver:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.sendall(b'{"method": "org.lifed.Monitor", "more": true}\0')
        toggle = b"".join(
            json.dumps({"method": f"org.lifed.{name}", "parameters": {"name": "test"}}).encode() + b"\0"
            for name in ("BeginInterruption", "EndInterruption")
        )
        for _ in range(500):
            driver.sendall(toggle)
            replies = 0
            while replies < 2:
                part = driver.recv(65536)
                assert part
                replies += part.count(b"\0")
        assert_answers(lifed, pid)


def test_requests_in_one_piece_and_in_bytes(lifed):
    with connected(lifed) as client:
        client.sendall(LIST * 100)
        received = b""
        while received.count(b"\0") < 100:
            received += client.recv(65536)
        assert received.count(b"\0") == 100
    with connected(lifed) as client:
        for byte in LIST:
            client.sendall(bytes([byte]))
        assert client.recv(65536).endswith(b"\0")


def test_clients_with_unfinished_messages_are_bounded_in_total(direct):
    """A client may hold 1 MiB; a hundred of them may not hold a hundred, and a client that has asked little stays."""
    pid = direct.process.pid
    clients = []

    def connect():
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        clients.append(client)
        client.settimeout(30)
        client.connect(str(direct.socket))
        return client

    try:
        modest = connect()
        modest.sendall(LIST)
        assert modest.recv(65536).endswith(b"\0")
        before = direct.kernel.own_memory(pid)
        for _ in range(100):
            send_and_ignore(connect(), b'{"method": "' + b"x" * 900_000)
        modest.sendall(LIST)
        assert modest.recv(65536).endswith(b"\0")
        assert direct.kernel.own_memory(pid) - before < 32 << 10
    finally:
        for client in clients:
            client.close()
    assert "it makes the daemon hold" in direct.logged


@pytest.mark.parametrize("method", ["Monitor", "MonitorAdoptions"])
def test_subscriptions_do_not_keep_the_messages_that_asked_for_them(direct, method):
    """The limit of all clients counts what is received and not yet taken: nothing else may keep a message."""
    pid = direct.process.pid
    message = {"method": f"org.lifed.{method}", "parameters": {}, "more": True, "padding": "x" * 900_000}
    call = json.dumps(message).encode() + b"\0"
    before = direct.kernel.own_memory(pid)
    with contextlib.ExitStack() as clients:
        for _ in range(64):
            client = clients.enter_context(connect(str(direct.socket)))
            client.sendall(call)
            assert client.recv(65536).endswith(b"\0")
            # The buffer gives the memory of a message back when more is received.
            client.sendall(b"{")
        with connect(str(direct.socket)) as client:
            client.sendall(LIST)
            assert client.recv(65536).endswith(b"\0")
        assert direct.kernel.own_memory(pid) - before < 8 << 10
    assert "it makes the daemon hold" not in direct.logged


@contextlib.contextmanager
def as_stranger(directory):
    """This process as one of nobody's, in a directory that it could not go to."""
    place, groups = os.getcwd(), os.getgroups()
    os.chdir(directory)
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
        os.chdir(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_strangers_do_not_put_out_those_who_may_call(direct):
    """Where the mode of the socket lets every user connect, the crowd of those who may not call makes room for itself."""
    (direct.configuration / "lifed.toml").write_text("[limits]\nclients = 16\n")
    direct.lifectl("reload")
    direct.runtime.chmod(0o711)
    direct.socket.chmod(0o666)
    with contextlib.ExitStack() as clients:

        def connect(path):
            client = clients.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            client.settimeout(30)
            client.connect(path)
            return client

        def is_answered(client):
            client.sendall(LIST)
            return client.recv(65536).endswith(b"\0")

        own = [connect(str(direct.socket)) for _ in range(16)]
        assert all(is_answered(client) for client in own)
        with as_stranger(direct.runtime):
            crowd = [connect("control") for _ in range(40)]
        assert all(is_answered(client) for client in own)
        # One who may call takes the place of a stranger, if there is one.
        own.pop().close()
        with as_stranger(direct.runtime):
            crowd += [connect("control") for _ in range(40)]
        own.append(connect(str(direct.socket)))
        assert all(is_answered(client) for client in own)


# Clients that report the visible apps, as lifed-desktop does.


@pytest.fixture
def reporter(quick):
    """A reporter of an app in the background, which runs because it is visible."""
    quick.lifectl.start("app", *programs.IDLE)
    quick.lifectl("background", "app")
    reporter = WindowReporter(quick.socket)
    reporter.show("app")
    yield reporter
    reporter.close()


@pytest.mark.parametrize("garbage", [b"\xff\xfe\0", b'{"method": 7}\0', b"{" * 100_000])
def test_reports_of_a_client_that_sends_garbage_end(quick, reporter, garbage):
    quick.lifectl.wait_for_state("app", "background")
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        reporter.socket.sendall(garbage)
        reporter.socket.shutdown(socket.SHUT_WR)
    quick.lifectl.wait_for_state("app", "suspended")


def test_reporter_that_never_reads_stops_nothing(quick, reporter):
    before = quick.kernel.own_memory(quick.process.pid)
    reporter.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    reporter.socket.settimeout(2)
    calls = [("SetInUse", {"use": "visible", "apps": ["app"]}), ("SetInUse", {"use": "visible", "apps": []})]
    with contextlib.suppress(TimeoutError, BrokenPipeError, ConnectionResetError):
        # It reads no reply, so that the daemon takes no more calls in the end.
        for _ in range(1000):
            reporter.send(*calls * 100)
    assert quick.kernel.own_memory(quick.process.pid) - before < 20 << 10
    quick.lifectl("focus", "app")
    quick.lifectl("background", "app")
    reporter.close()
    quick.lifectl.wait_for_state("app", "suspended")
    quick.lifectl("terminate", "app")
