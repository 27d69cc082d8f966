"""The machine that the other tests rely on."""

from container import wait_for

UNITS = [
    "/usr/local/lib/systemd/system/lifed.service",
    "/usr/local/lib/systemd/system/lifed.socket",
    "/usr/local/lib/systemd/system/lifed-rescue.service",
]


def test_systemd_runs(container):
    assert container.run(["systemctl", "is-system-running"]).stdout.strip() == "running"


def test_the_journal_works(container):
    container.run(["systemd-cat", "-t", "lifed-smoke", "echo", "hello"])
    wait_for(lambda: "hello" in container.run(["journalctl", "-t", "lifed-smoke", "-o", "cat"]).stdout)


def verify(container, *arguments, **options):
    """What systemd says of the units, but for the keys that a release before theirs ignores."""
    result = container.run(["systemd-analyze", *arguments], **options)
    version = int(container.run(["systemctl", "--version"]).stdout.split()[1])
    newer = "Unknown key 'RestartMode' in section [Service], ignoring."
    return [line for line in (result.stdout + result.stderr).splitlines() if version >= 254 or newer not in line]


def test_units_verify_without_a_word(container):
    assert verify(container, "verify", *UNITS) == []


def test_user_units_verify_without_a_word(container):
    units = [unit.replace("/system/", "/user/") for unit in UNITS]
    folder = "/usr/local/lib/systemd/user"
    units.append(f"{folder}/lifed-desktop.service")
    environment = {"XDG_RUNTIME_DIR": "/run/user/0"}
    container.run(["mkdir", "-p", "/run/user/0"])
    assert verify(container, "--user", "verify", *units, environment=environment) == []


def test_the_group_and_the_directory_exist(container):
    assert container.run(["getent", "group", "lifed"]).stdout.startswith("lifed:")
    assert container.run(["stat", "-c", "%U %G %a", "/run/lifed"]).stdout.split() == ["root", "lifed", "751"]
