import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True

from container import Container, Unavailable, wait_for
from desktop import Desktop
from direct import DirectDaemon
from gnome_shell import GnomeShell
from listeners import ServiceListeners
from machine import Logind
from restoration import configure
from sandboxes import FLATPAK, prepare
from screens import Sway, need, running
from service import Service
from shortage import hog as start_hog

ROOT = Path(__file__).resolve().parents[2]

# A shell without job control starts its background commands with SIGINT ignored, and so would the programs under test be.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def container(tmp_path_factory):
    """A booted systemd with lifed installed by "make install", and two users: one in the group lifed, one not."""
    log = tmp_path_factory.mktemp("container") / "console"
    try:
        machine = Container(ROOT)
    except Unavailable as reason:
        pytest.skip(str(reason))
    try:
        with open(log, "wb") as output:
            try:
                machine.boot(output)
            except Unavailable as reason:
                pytest.skip(f"{reason}: {log.read_text(errors='replace')[-500:]}")
        install(machine)
        yield machine
    finally:
        machine.shut_down()


def install(machine):
    build = os.environ.get("LIFED_BUILD", "release")
    machine.run(["make", "-C", "/lifed-source", "install", f"BUILD={build}"])
    machine.add_user("member", groups=["lifed"])
    machine.add_user("stranger")


@pytest.fixture(scope="session")
def flatpak(container):
    """A Flatpak of busybox in the container: org.test.App."""
    prepare(container, FLATPAK, "flatpak", "ostree", "busybox")


@pytest.fixture
def bare_machine(tmp_path):
    """A booted systemd of the test's own, in which nothing of lifed is installed."""
    machine = None
    try:
        machine = Container(ROOT)
        with open(tmp_path / "console", "wb") as log:
            machine.boot(log)
        yield machine
    except Unavailable as reason:
        pytest.skip(str(reason))
    finally:
        if machine:
            machine.shut_down()


@pytest.fixture
def logind(container):
    """A real logind in the container; its sessions are closed in the end."""
    for path in ("/lib/systemd/system/dbus.service", "/lib/systemd/system/systemd-logind.service"):
        if not container.path(path).exists():
            pytest.skip(f"the container has no {path}")
    logind = Logind(container)
    yield logind
    logind.close()


@pytest.fixture
def service(container):
    """The installed service, stopped and without configuration; whatever a test leaves running is ended."""
    service = Service(container)
    service.reset()
    yield service
    service.reset()


@pytest.fixture
def lifed(service):
    """The service, running."""
    service.start()
    return service


@pytest.fixture
def service_listeners(container, lifed):
    """Launches connected apps of the service."""
    container.run(["mkdir", "-p", ServiceListeners.directory])
    yield ServiceListeners(lifed)
    container.run(["rm", "-rf", ServiceListeners.directory])


@pytest.fixture
def direct(tmp_path):
    """The daemon as an ordinary process with directories of its own, in no container."""
    daemon = DirectDaemon(ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"), tmp_path)
    daemon.start()
    yield daemon
    daemon.stop()


@pytest.fixture
def quick(direct):
    """A daemon that suspends apps after a moment in the background."""
    direct.suspend_soon()
    return direct


@pytest.fixture
def hog(tmp_path):
    """Starts a program that waits for memory, whenever the test wants."""
    with start_hog(tmp_path) as start:
        yield start


@pytest.fixture
def sway(tmp_path):
    """A sway without a screen."""
    need("sway", "swaymsg", "foot")
    with running(Sway(tmp_path)) as screen:
        yield screen


@pytest.fixture
def gnome(tmp_path):
    """A GNOME Shell without a screen, with the extension."""
    need("gnome-shell", "dbus-daemon", "busctl", "foot")
    if subprocess.run(["/usr/bin/python3", "-c", "import dbusmock"], capture_output=True).returncode != 0:
        pytest.skip("not installed: python3-dbusmock")
    with running(GnomeShell(tmp_path)) as shell:
        yield shell


@pytest.fixture(params=["auto", "keeper"])
def daemon(direct, request):
    """A daemon that holds its apps by control groups, and one that does not."""
    (direct.configuration / "lifed.toml").write_text(f'containment = "{request.param}"\n')
    direct.stop()
    direct.start()
    direct.containment = {"auto": "cgroup", "keeper": "keeper"}[request.param]
    if request.param == "auto" and "control group for each app" not in direct.logged:
        pytest.skip("there are no control groups here")
    return direct


@pytest.fixture(params=["auto", "keeper"])
def mortal(request, direct):
    """A daemon that a test may kill: it is there again in the end, so that its apps end with it."""
    direct.containment = request.param
    configure(direct)
    yield direct
    if direct.process.poll() is not None:
        direct.start()


@pytest.fixture
def desktop(tmp_path):
    daemon = Desktop(ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"), tmp_path)
    daemon.start()
    yield daemon
    daemon.stop()


@pytest.fixture
def start():
    """Starts programs that are nobody's app, each in a session of its own, as a desktop does."""
    started = []

    def begin(command, **options):
        options = {"start_new_session": True, **options}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)
        started.append(process)
        # The kernel tells of the execution before it shows the arguments of the program.
        wait_for(lambda: process.poll() is not None or Path(f"/proc/{process.pid}/cmdline").read_bytes() != b"")
        return process.pid

    begin.processes = started
    yield begin
    for process in started:
        process.kill()
        process.wait()
