"""What docs/design/security.md says of the units."""

import re
from pathlib import Path

import programs
from container import wait_for

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/design/security.md"


def exposure(container, unit):
    shown = container.run(["systemd-analyze", "security", "--no-pager", unit], check=False).stdout
    return float(re.search(r"Overall exposure level for \S+ ([0-9.]+)", shown).group(1))


def test_each_exposure_of_the_service_is_argued(container):
    section = DOCUMENT.read_text().split("## The service")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    argued = set(re.findall(r"([A-Za-z]+=)", " ".join(rows)))
    shown = container.run(["systemd-analyze", "security", "--no-pager", "lifed.service"], check=False).stdout
    found = set(re.findall(r"✗\S* ([A-Za-z]+)=", shown)) - {"CapabilityBoundingSet"}
    assert len(found) > 20
    assert found - {name.rstrip("=") for name in argued} == set()
    # All capabilities are open, and argued together.
    assert "all other capabilities" in section


def test_the_rescue_is_closed(container):
    assert exposure(container, "lifed-rescue.service") < 2


def test_a_kiosks_apps_live_with_what_is_proposed(service):
    drop_in = re.search(r"```ini\n(.*?)```", DOCUMENT.read_text(), re.DOTALL).group(1)
    service.drop_in(drop_in)
    service.configure('[timeouts]\nbackground = "0s"\n')
    service.manifest("org.example.kiosk", programs.FAMILY, 'user = "stranger"')
    service.start()
    service.lifectl("launch", "org.example.kiosk")
    pid = service.lifectl.pid("org.example.kiosk")
    wait_for(lambda: len(service.kernel.tree(pid)) == 5)
    service.lifectl("suspend", "org.example.kiosk")
    assert service.kernel.is_stopped(pid)
    service.lifectl("focus", "org.example.kiosk")
    service.lifectl("terminate", "org.example.kiosk")
    assert not service.kernel.exists(pid)
    assert exposure(service.container, "lifed.service") < 5
