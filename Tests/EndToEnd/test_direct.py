"""The daemon as an ordinary process, which works without systemd and without root."""

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import programs
from container import wait_for
from driver import call, connect
from faults import fault


def test_an_app_goes_through_its_life(direct):
    pid = direct.lifectl.start("direct", *programs.FAMILY)
    wait_for(lambda: len(direct.kernel.tree(pid)) == 5)
    assert direct.lifectl.state("direct") == "active"
    direct.lifectl("suspend", "direct")
    assert direct.kernel.is_stopped(pid)
    direct.lifectl("focus", "direct")
    assert not direct.kernel.is_stopped(pid)
    tree = [stat.pid for stat in direct.kernel.tree(pid)]
    direct.lifectl("terminate", "direct")
    assert not any(direct.kernel.exists(each) for each in tree)


def test_ending_the_daemon_ends_the_apps(direct):
    pids = [direct.lifectl.start(f"app{number}", *programs.IDLE) for number in range(3)]
    direct.lifectl("suspend", "app0")
    assert direct.stop() == 0
    assert not any(direct.kernel.exists(pid) for pid in pids)


def test_the_console_gets_what_the_journal_would(direct):
    direct.stop()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    direct.process = subprocess.Popen(direct.arguments(), stdin=subprocess.DEVNULL, stdout=writer, stderr=writer)
    os.close(writer)
    wait_for(direct._answers)
    direct.lifectl.start("console", *programs.TALKER)
    told = b""

    def hears(words):
        nonlocal told
        told += os.read(reader, 1 << 16) if select.select([reader], [], [], 0)[0] else b""
        return words in told

    wait_for(lambda: hears(b"said on output"))
    assert b"console" in told
    direct.stop()
    os.close(reader)


def test_an_app_cannot_truncate_the_log_file(direct):
    truncate = "import os, time; print('said'); os.ftruncate(1, 0); os.ftruncate(2, 0); print('done', flush=True); time.sleep(99)"
    before = direct.logged
    assert before
    direct.lifectl.start("app", "python3", "-c", truncate)
    output = direct.state / "output/app"
    wait_for(lambda: "done" in output.read_text())
    assert direct.logged.startswith(before)
    assert (output.stat().st_mode & 0o777, output.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_app_that_ended_is_told_with_its_output(direct):
    """Without a journal, the output is in a file."""
    (direct.configuration / "apps.d/short.toml").write_text("command = ['sh', '-c', 'echo said']\ncallbacks = 'required'\n")
    direct.lifectl("reload")
    result = direct.lifectl("launch", "short", check=False)
    assert f"read its output in {direct.state}/output/short" in result.stderr
    assert (direct.state / "output/short").read_text() == "said\n"


def test_output_of_forgotten_apps_is_removed(direct):
    """It stays with the record of the end; there are a hundred of those."""
    (direct.configuration / "apps.d/kept.toml").write_text("command = ['sh', '-c', 'echo said']\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "kept", check=False)
    output = direct.state / "output"
    with connect(str(direct.socket)) as client:
        for number in range(130):
            call(client, "org.lifed.Run", {"command": ["true"], "id": f"app-{number}", "background": True})
        wait_for(lambda: "app-129" not in direct.lifectl.apps())
    names = {path.name for path in output.iterdir()}
    assert len(names) == 101 and {"kept", "app-129"} < names
    direct.process.kill()
    direct.process.wait()
    (output / "lost").touch()
    direct.start()
    assert {path.name for path in output.iterdir()} == names


def test_two_daemons_do_not_share_a_directory(direct):
    second = subprocess.run(direct.arguments(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert second.returncode != 0
    assert direct.lifectl("list").returncode == 0


def pipelined(client, *calls):
    """The replies to calls that are sent in one piece."""
    messages = [json.dumps({"method": f"org.lifed.{method}", "parameters": parameters}) for method, parameters in calls]
    client.sendall("".join(f"{message}\0" for message in messages).encode())
    received = b""
    while received.count(b"\0") < len(calls):
        chunk = client.recv(65536)
        assert chunk, received
        received += chunk
    return [json.loads(reply) for reply in received.split(b"\0")[:-1]]


def test_a_call_sees_the_transitions_of_the_call_before_it(direct):
    """Both come in one piece: the daemon handles the second before it announces what the first has changed."""
    direct.lifectl.start("one", *programs.IDLE)
    direct.lifectl.start("two", *programs.IDLE)
    with connect(str(direct.socket)) as client:
        _, history = pipelined(client, ("Focus", {"id": "one"}), ("History", {"id": "one"}))
    last = history["parameters"]["events"][-1]
    assert (last["to"], last["reason"]) == ("active", "focus")


def test_a_pipelined_call_follows_all_effects_of_the_call_before_it(direct, tmp_path):
    pid = direct.lifectl.start("first", *programs.IDLE)
    with subprocess.Popen(programs.IDLE) as process, connect(str(direct.socket)) as client:
        ended, again = pipelined(
            client, ("Terminate", {"id": "first"}), ("Run", {"command": programs.IDLE, "id": "first"}))
        assert ended["parameters"]["app"]["state"] == "notRunning"
        assert again["parameters"]["app"]["state"] == "active"
        assert again["parameters"]["app"]["pid"] not in (None, pid)
        direct.lifectl("background", "first")
        focused, adopted = pipelined(client, ("Focus", {"id": "first"}), ("Adopt", {"pid": process.pid, "id": "second"}))
        assert focused["parameters"]["app"]["state"] == "active"
        assert adopted["parameters"]["app"]["pid"] == process.pid
        direct.lifectl("terminate", "second")


def test_the_end_of_an_app_is_not_told_with_the_process_of_the_next_launch(direct):
    (direct.configuration / "apps.d/again.toml").write_text('id = "again"\ncommand = ["sleep", "infinity"]\n')
    direct.lifectl("reload")
    direct.lifectl("launch", "again")
    with connect(str(direct.socket)) as monitor, connect(str(direct.socket)) as client:
        call(monitor, "org.lifed.Monitor", {}, more=True)
        call(client, "org.lifed.Restart", {"id": "again"})
        received = b""
        while b'"to":"notRunning"' not in received:
            received += monitor.recv(65536)
        ends = [json.loads(reply)["parameters"]["transition"] for reply in received.split(b"\0") if b'"to":"notRunning"' in reply]
        assert [end["pid"] for end in ends] == [None]


def test_files_of_a_daemon_that_has_the_directory_now_stay(direct):
    """The directory of a daemon was removed, and another one made it again."""
    former = direct.process
    shutil.rmtree(direct.runtime)
    direct.start()
    former.terminate()
    assert former.wait(timeout=60) == 0
    files = {each.name for each in direct.runtime.iterdir()}
    assert {"control", "channel", "lock", "state"} <= files
    direct.lifectl.start("app", *programs.IDLE)


def test_hang_up_reloads(direct):
    manifest = direct.configuration / "apps.d" / "new.toml"
    manifest.write_text('id = "org.example.new"\ncommand = ["sleep", "infinity"]\n')
    direct.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "org.example.new" in direct.lifectl.apps())


def test_a_signal_that_asks_for_nothing_ends_no_daemon_and_is_not_ignored_by_its_apps(direct):
    named = (signal.SIGUSR1, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGPWR)
    for number in (*named, signal.SIGRTMIN, signal.SIGRTMIN + 1, signal.SIGRTMAX):
        direct.process.send_signal(number)
    pid = direct.lifectl.start("after", *programs.IDLE)
    assert "\nSigIgn:\t0000000000000000\n" in Path(f"/proc/{pid}/status").read_text()


def test_a_configuration_that_stays_as_it_is_can_be_read_for_ever(direct):
    for number in range(100):
        manifest = direct.configuration / "apps.d" / f"app-{number}.toml"
        manifest.write_text("command = ['sleep', 'infinity']\n[environment]\nLONG = '" + "x" * 1000 + "'\n")
    with connect(str(direct.socket)) as connection:
        for _ in range(10):
            call(connection, "org.lifed.Reload", {})
        before = direct.kernel.own_memory(direct.process.pid)
        # Each time, the library that parses them would keep 100 kB and more.
        for _ in range(50):
            call(connection, "org.lifed.Reload", {})
    assert direct.kernel.own_memory(direct.process.pid) < before + 1000


@pytest.mark.parametrize("length", [200, 300])
def test_a_directory_with_too_long_a_path_is_named_with_a_remedy(direct, tmp_path, length):
    direct.stop()
    direct.runtime = tmp_path / ("x" * length)
    direct.spawn()
    assert direct.process.wait(timeout=30) == 1
    assert "File name too long; name a directory with a shorter path\n" in direct.logged


def test_the_socket_of_a_dead_daemon_is_taken_over(direct):
    direct.process.kill()
    direct.process.wait()
    direct.start()
    assert direct.lifectl.apps() == {}


def test_what_a_dead_daemon_was_just_starting_does_not_keep_its_place(direct):
    # The child is not a program yet. A copy of the lock's descriptor would keep the next daemon from starting.
    run = {"method": "org.lifed.Run", "parameters": {"command": programs.IDLE, "id": "app"}}
    with fault(direct.process.pid, "setsid:signal=SIGSTOP", follows=True), connect(str(direct.socket)) as connection:
        connection.sendall(json.dumps(run).encode() + b"\0")
        child = wait_for(lambda: stopped_child(direct))
        try:
            direct.process.kill()
            direct.process.wait()
            direct.spawn()
            wait_for(lambda: direct.process.poll() is not None or direct.log.read_text().count("listens at") == 2)
            assert direct.process.poll() is None, direct.log.read_text()
        finally:
            os.kill(child, signal.SIGKILL)
    direct.lifectl.wait_for_state("app", "notRunning")


def stopped_child(direct):
    stopped = [each.pid for each in direct.kernel.all() if each.parent == direct.process.pid and each.state in "Tt"]
    return stopped[0] if stopped else None


def test_a_daemon_whose_parent_ignored_the_ends_of_children_sees_them(direct):
    direct.stop()
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    direct.start([sys.executable, "-c", ignore])
    os.kill(direct.lifectl.start("app", *programs.IDLE), signal.SIGKILL)
    wait_for(lambda: "app was ended by SIGKILL" in direct.log.read_text())
    direct.lifectl.start("other", *programs.IDLE)
    direct.lifectl("terminate", "other")


def test_a_daemon_without_standard_streams_keeps_its_sockets_to_itself(direct):
    direct.stop()
    direct.start(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"])
    pid = direct.lifectl.start("quiet", *programs.IDLE)
    for number in range(3):
        assert direct.kernel.descriptor(pid, number) == "/dev/null"


def test_a_result_without_standard_output_is_lost_and_no_success(direct):
    without_output = ["sh", "-c", 'exec "$@" >&-', "sh", str(direct.products / "lifectl"), "list"]
    assert direct.run(without_output, check=False).returncode == 74
    assert "cannot serve process" not in direct.log.read_text()


def test_without_descriptors_clients_wait_and_the_daemon_does_not_spin(direct):
    pid = direct.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (5, usual[1]))
    before = direct.kernel.ticks(pid)
    assert direct.lifectl("list", "--timeout=1", check=False).returncode == 75
    assert direct.kernel.ticks(pid) - before < 20
    resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    assert direct.lifectl("list").returncode == 0


def test_a_client_that_leaves_in_the_middle_of_its_call_is_forgotten_at_once(direct):
    def clients():
        return direct.lifectl.json("status")["status"]["clients"]

    alone = clients()
    with connect(str(direct.socket)) as connection:
        connection.sendall(b'{"method": "org.lifed.Monitor", "more": true}\0')
        assert connection.recv(1 << 16)
        assert clients() == alone + 1
    # Nothing happens that a monitor is told of; the daemon would be busy with the end of this one until something does.
    wait_for(lambda: clients() == alone)


def test_an_ad_hoc_app_leaves_no_directory_that_it_did_not_use(direct):
    direct.lifectl.start("unused", *programs.IDLE)
    direct.lifectl.start("used", "sh", "-c", 'touch "$LIFECYCLE_STATE_DIR/kept"; exec sleep infinity')
    wait_for((direct.state / "apps" / "used" / "kept").exists)
    for name in ("unused", "used"):
        direct.lifectl("kill", name)
    direct.lifectl("run", "--id", "missing", "--", "/nonexistent", check=False)
    wait_for(lambda: [each.name for each in (direct.state / "apps").iterdir()] == ["used"])
