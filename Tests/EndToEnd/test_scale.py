"""Many apps, and none: no zombies, no leaks, no needless wake-ups."""


import programs
from container import wait_for

APPS = 200


def test_two_hundred_apps(service):
    service.configure('[timeouts]\nbackground = "0s"\n')
    service.start()
    pid = service.pid
    names = [f"app{number}" for number in range(APPS)]
    commands = [f"lifectl run --id {name} -- sleep infinity" for name in names]
    commands += [f"lifectl focus {name}" for name in names]
    # The first launch opens what the daemon keeps for all of them.
    service.lifectl.start("first", *programs.IDLE)
    service.lifectl("terminate", "first")
    before = service.kernel.descriptors(pid)
    service.container.run(["sh", "-ec", "\n".join(commands)], timeout=300)
    apps = service.lifectl.apps()
    assert sum(apps[name]["foreground"] for name in names) == 1
    wait_for(lambda: sum(app["state"] == "suspended" for app in service.lifectl.apps().values()) == APPS - 1)
    pids = [apps[name]["pid"] for name in names]
    terminate = " & ".join(f"lifectl terminate {name}" for name in names) + " & wait"
    service.container.run(["sh", "-c", terminate], timeout=120)
    assert not any(service.kernel.exists(each) for each in pids)
    assert service.kernel.zombies(pid) == []
    wait_for(lambda: service.kernel.descriptors(pid) <= before)


def test_idle_means_idle(service):
    service.drop_in("[Service]\nWatchdogSec=0\n")
    service.start()
    pid = service.lifectl.start("behind", *programs.IDLE)
    service.lifectl("suspend", "behind")
    daemon = service.pid

    service.kernel.wait_until_quiet(daemon, seconds=5, timeout=30)
    assert service.kernel.is_stopped(pid)
