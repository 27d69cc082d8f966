"""What an app has of privileges, limits and priorities: of its client, its manifest and its daemon."""

import ctypes
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

import pytest

import programs
from container import wait_for
from restoration import manifest

NO_CHOWN = ~1


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def limits(pid):
    with open(f"/proc/{pid}/limits") as file:
        return {line[:26].strip(): tuple(line[26:].split()[:2]) for line in file}


def run_as(daemon, *wrapper):
    command = [*wrapper, str(daemon.products / "lifectl"), "run", "--id", "app", "--background", "--", *programs.IDLE]
    daemon.run(command)
    return daemon.lifectl.pid("app")


def test_an_app_has_no_higher_limits_than_the_client_that_ran_it(direct):
    usual = limits(os.getpid())
    pid = run_as(direct, "prlimit", "--nofile=123:456", "--cpu=1000:2000", "--nproc=3000:4000")
    found = limits(pid)
    assert found["Max open files"] == ("123", "456")
    assert found["Max cpu time"] == ("1000", "2000")
    assert found["Max processes"] == ("3000", "4000")
    changed = {"Max open files", "Max cpu time", "Max processes"}
    assert {name: value for name, value in found.items() if name not in changed} == {
        name: value for name, value in usual.items() if name not in changed
    }


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_an_app_of_a_client_without_new_privileges_gains_none_either(direct):
    assert status(run_as(direct, "setpriv", "--no-new-privs"))["NoNewPrivs"] == "1"


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_an_app_keeps_to_the_bounding_set_of_its_client(direct):
    usual = int(status(direct.process.pid)["CapBnd"], 16)
    pid = run_as(direct, "setpriv", "--bounding-set=-chown")
    found = status(pid)
    assert int(found["CapBnd"], 16) == usual & NO_CHOWN and int(found["CapPrm"], 16) & ~NO_CHOWN == 0
    assert found["NoNewPrivs"] == "0"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_app_of_a_client_in_another_user_namespace_has_no_capabilities(direct):
    found = status(run_as(direct, "unshare", "--user", "--map-root-user"))
    assert (int(found["CapBnd"], 16), int(found["CapPrm"], 16), found["NoNewPrivs"]) == (0, 0, "1")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_an_app_of_root_without_capabilities_has_none_either(direct):
    found = status(run_as(direct, "setpriv", "--securebits=+noroot,+noroot_locked"))
    assert (int(found["CapBnd"], 16), int(found["CapPrm"], 16)) == (0, 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_app_of_another_user_has_nothing_of_the_terminal_of_the_daemon(direct):
    direct.stop()
    master, slave = pty.openpty()
    direct.process = subprocess.Popen(direct.arguments(), stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    wait_for(direct._answers, what="an answer of the daemon")
    for name, user in ("own", "root"), ("other", "nobody"):
        manifest(direct, name, programs.IDLE, f"user = '{user}'\nworkingDirectory = '/'")
        direct.lifectl("launch", "--background", name)
    files = {
        name: {os.readlink(f"/proc/{direct.lifectl.pid(name)}/fd/{number}") for number in (0, 1, 2)}
        for name in ("own", "other")
    }
    assert any(file.startswith("/dev/pts/") for file in files["own"])
    assert files["other"] == {"/dev/null", str(direct.state / "output/other")}
    direct.stop()
    os.close(master)


def test_a_manifest_forbids_new_privileges(direct):
    manifest(direct, "app", programs.IDLE, "noNewPrivileges = true")
    direct.lifectl("launch", "app")
    assert status(direct.lifectl.pid("app"))["NoNewPrivs"] == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("capabilities, bits", [("[]", 0), ("['CAP_CHOWN', 'CAP_KILL']", 1 << 0 | 1 << 5)])
def test_a_manifest_bounds_capabilities(direct, capabilities, bits):
    manifest(direct, "app", programs.IDLE, f"capabilities = {capabilities}")
    direct.lifectl("launch", "app")
    found = status(direct.lifectl.pid("app"))
    assert (int(found["CapBnd"], 16), int(found["CapPrm"], 16)) == (bits, bits)
    assert found["NoNewPrivs"] == "0"


# Tries to write to each of its arguments, and says in its state directory which it could.
WRITER = """
for file; do (echo x >"$file") 2>/dev/null && echo "$file"; done >"$LIFECYCLE_STATE_DIR/part"
mv "$LIFECYCLE_STATE_DIR/part" "$LIFECYCLE_STATE_DIR/written"
exec sleep infinity
"""


def writer(*files):
    return ["sh", "-c", WRITER, "sh", *map(str, files)]


def landlock_version():
    """Of landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


@pytest.mark.skipif(landlock_version() < 3, reason="needs Landlock of Linux 6.2")
def test_a_manifest_says_where_its_app_can_write(direct, tmp_path):
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    allowed.mkdir()
    other.mkdir()
    files = [allowed / "file", other / "file", "/dev/null"]
    manifest(direct, "app", writer(*files), f"writablePaths = ['{allowed}']")
    direct.lifectl("launch", "app")
    written = direct.state / "apps/app/written"
    wait_for(written.exists)
    assert written.read_text().split() == [str(allowed / "file"), "/dev/null"]
    assert status(direct.lifectl.pid("app"))["NoNewPrivs"] == "1"
    # Beneath a path that the app can write to, it could put a link in the place of another.
    direct.lifectl("terminate", "app")
    (allowed / "link").symlink_to(other)
    manifest(direct, "app", writer(*files), f"writablePaths = ['{allowed}', '{allowed}/link']")
    written.unlink()
    direct.lifectl("launch", "app")
    wait_for(written.exists)
    assert str(other / "file") not in written.read_text().split()


def test_a_writable_path_that_is_not_there_is_named(direct, tmp_path):
    manifest(direct, "app", programs.IDLE, f"writablePaths = ['{tmp_path}/none']")
    failed = direct.lifectl("launch", "app", check=False)
    assert failed.returncode == 11
    if landlock_version() >= 3:
        assert f"writablePaths: {tmp_path}/none: No such file or directory" in failed.stderr
    else:
        assert "it needs Linux 6.2" in failed.stderr


def test_without_landlock_an_app_that_wants_it_is_not_launched(service):
    service.drop_in("[Service]\nSystemCallFilter=~landlock_create_ruleset\nSystemCallErrorNumber=ENOSYS\n")
    service.manifest("app", programs.IDLE, "writablePaths = []")
    service.start()
    failed = service.lifectl("launch", "app", check=False)
    assert failed.returncode == 11
    assert "writablePaths: Landlock" in failed.stderr
    assert "it needs Linux 6.2" in failed.stderr


def test_apps_have_temporary_directories_of_their_own(service):
    names = ["one", "two"]
    for name in names:
        service.manifest(name, writer("/tmp/file", "/var/tmp/file"), "user = 'stranger'\nprivateTmp = true")
    service.start()
    for name in names:
        service.lifectl("launch", name)
        written = service.container.path(f"/var/lib/lifed/apps/{name}/written")
        wait_for(written.exists)
        assert written.read_text().split() == ["/tmp/file", "/var/tmp/file"]
    assert not service.container.path("/tmp/file").exists()
    pids = [service.lifectl.pid(name) for name in names]
    service.lifectl("suspend", "two")
    assert service.kernel.is_stopped(pids[1])
    for name in names:
        service.lifectl("terminate", name)


@pytest.mark.skipif(os.geteuid() != 0 or landlock_version() < 3, reason="needs root and Landlock of Linux 6.2")
def test_an_app_with_writable_paths_does_not_reach_the_private_directory_of_another(direct):
    user = "user = 'nobody'\nworkingDirectory = '/'\n"
    direct.stop()
    with tempfile.TemporaryDirectory(dir="/run") as directory:
        os.chmod(directory, 0o755)
        direct.state = pathlib.Path(directory, "state")
        direct.start()
        manifest(direct, "private", programs.IDLE, user + "privateTmp = true")
        direct.lifectl("launch", "private")
        tmp = f"/proc/{direct.lifectl.pid('private')}/root/tmp"
        for name, key, answer in ("other", "", b"98"), ("confined", "writablePaths = []", b"99"):
            command = ["sh", "-c", f"ls {tmp} && exec sleep 98; exec sleep 99"]
            manifest(direct, name, command, user + key)
            direct.lifectl("launch", name)
            program = pathlib.Path(f"/proc/{direct.lifectl.pid(name)}/cmdline")
            wait_for(lambda: program.read_bytes().startswith(b"sleep"), what="an answer")
            assert program.read_bytes() == b"sleep\0" + answer + b"\0"
        direct.stop()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_an_app_gets_no_capabilities_of_the_daemons_own(direct):
    direct.stop()
    wrapper = ["setpriv", "--inh-caps=+chown,+kill", "--ambient-caps=+chown", "--securebits=+no_setuid_fixup"]
    direct.start(wrapper)
    assert int(status(direct.process.pid)["CapAmb"], 16) == 1
    asks = "grep -E 'Cap' /proc/self/status; python3 -c 'import ctypes; print(ctypes.CDLL(None).prctl(27, 0, 0, 0, 0))'"
    command = ["sh", "-c", f"({asks}) >$LIFECYCLE_STATE_DIR/part; cd $LIFECYCLE_STATE_DIR; mv part found; exec sleep 99"]
    manifest(direct, "app", command, "capabilities = []")
    direct.lifectl("launch", "app")
    found = direct.state / "apps/app/found"
    wait_for(found.exists)
    *sets, securebits = found.read_text().splitlines()
    assert {line.split(":")[0]: int(line.split(":")[1], 16) for line in sets} == dict.fromkeys(
        ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"], 0
    )
    assert securebits == "0"


def started_with(daemon, *wrapper):
    """The process of an app of a daemon that a command has started; a skip if the command may not do what it is for."""
    if not shutil.which(wrapper[0]) or subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
        pytest.skip(f"{' '.join(wrapper)} does not work here")
    daemon.stop()
    daemon.start(wrapper)
    return daemon.lifectl.start("app", *programs.IDLE)


@pytest.mark.parametrize("nice", [-10, 3])
def test_an_app_has_no_higher_priority_than_usual(direct, nice):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    pid = started_with(direct, "nice", "-n", str(nice - own))
    assert os.getpriority(os.PRIO_PROCESS, direct.process.pid) == nice
    assert os.getpriority(os.PRIO_PROCESS, pid) == max(0, nice)


def test_an_app_is_not_scheduled_as_a_daemon_of_real_time_is(direct):
    pid = started_with(direct, "chrt", "--rr", "10")
    assert os.sched_getscheduler(pid) == os.SCHED_OTHER
    assert os.sched_getscheduler(direct.process.pid) == os.SCHED_RR


def test_an_app_has_no_io_priority_of_real_time(direct):
    pid = started_with(direct, "ionice", "-c1", "-n4")
    shown = subprocess.run(["ionice", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    assert "realtime" not in shown


def test_an_app_is_killed_for_memory_before_a_daemon_that_is_spared(direct):
    pid = started_with(direct, "choom", "-n", "-500", "--")
    with open(f"/proc/{pid}/oom_score_adj") as file:
        assert int(file.read()) >= 0


def test_an_app_of_an_unconfined_client_is_as_before(direct):
    found = status(run_as(direct))
    daemons = status(direct.process.pid)
    assert (found["NoNewPrivs"], found["CapBnd"]) == (daemons["NoNewPrivs"], daemons["CapBnd"])
