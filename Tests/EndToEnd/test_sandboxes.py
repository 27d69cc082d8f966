"""Real `flatpak run` and `podman run` as apps: both leave the control group of the app."""

import json

import pytest

from container import wait_for
from kernel import Kernel
from sandboxes import prepare

USER = "stranger"

# Without limits, keys and controllers, which a container may not have.
PODMAN = """
set -e
mkdir -p /pod/bin /pod/proc /pod/dev /pod/sys /pod/etc /pod/tmp /etc/containers
cp "$(command -v busybox)" /pod/bin/busybox
ln -s busybox /pod/bin/sleep
printf '[storage]\\ndriver="vfs"\\nrunroot="/run/pod"\\ngraphroot="/var/lib/pod"\\n' >/etc/containers/storage.conf
printf '[containers]\\nkeyring=false\\npids_limit=0\\nlog_driver="none"\\nnetns="none"\\n' >/etc/containers/containers.conf
printf 'default_ulimits=["nofile=1024:4096","nproc=100:100"]\\n' >>/etc/containers/containers.conf
podman run --privileged --rm --rootfs /pod /bin/sleep 0
"""


def sleepers(kernel):
    return {each.pid: each.state for each in kernel.all() if each.name in ("bwrap", "sleep", "busybox")}


@pytest.fixture
def user(container):
    """Runs commands as a user with a service manager and a session bus."""
    number = container.run(["id", "-u", USER]).stdout.strip()
    runtime = f"/run/user/{number}"
    session = {"XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus", "HOME": f"/home/{USER}"}
    container.run(["systemctl", "start", f"user@{number}.service"])
    run = lambda *command: container.run(command, user=USER, environment=session)
    try:
        run("systemctl", "--user", "start", "lifed.socket")
        yield run
        run("systemctl", "--user", "stop", "lifed.service")
    finally:
        container.run(["systemctl", "stop", f"user@{number}.service"])


def test_flatpak_run_is_held_in_every_state(container, flatpak, user):
    kernel = Kernel(container.path("/proc"))
    before = set(sleepers(kernel))

    def app():
        return {pid: state for pid, state in sleepers(kernel).items() if pid not in before}

    user("lifectl", "run", "--id", "flat", "--", "flatpak", "run", "org.test.App")
    wait_for(lambda: len(app()) >= 4, what="the app and its sandbox run")
    members = set(app())
    groups = {container.run(["cat", f"/proc/{pid}/cgroup"]).stdout.strip() for pid in members}
    assert all("app-flatpak-org.test.App" in group for group in groups), groups
    details = json.loads(user("lifectl", "status", "flat", "--json").stdout)["details"]
    assert members <= {each["pid"] for each in details["processes"]}
    user("lifectl", "suspend", "flat")
    assert set(app().values()) == {"T"}
    user("lifectl", "focus", "flat")
    wait_for(lambda: set(app().values()) == {"S"})
    user("lifectl", "terminate", "flat")
    wait_for(lambda: not app())


def test_container_of_podman_is_named_for_it_is_not_held(lifed):
    """Its monitor has left the group, its parent, its session and its environment."""
    prepare(lifed.container, PODMAN, "podman", "busybox")
    before = set(sleepers(lifed.kernel))
    podman = ["podman", "run", "--privileged", "--rm", "--rootfs", "/pod", "/bin/sleep", "4321"]
    lifed.lifectl("run", "--id", "pod", "--", *podman)
    (inside,) = wait_for(lambda: set(sleepers(lifed.kernel)) - before, what="the container runs")
    monitor = lifed.kernel.stat(inside).parent
    try:
        lifed.lifectl("suspend", "pod")
        explanation = lifed.lifectl("explain", "pod").stdout
        assert f"not controlled: {monitor} (/usr/bin/conmon" in explanation
        assert "of user root: its app is unknown" in explanation
    finally:
        lifed.lifectl("terminate", "pod")
        lifed.container.run(["podman", "rm", "--force", "--all"])
