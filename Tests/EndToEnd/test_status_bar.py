"""The line for status bars, in a real waybar on a headless sway."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from container import wait_for
from screens import need

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "observing.md").read_text()
BAR = '{{"layer": "top", "height": 24, "modules-right": ["custom/lifed"],\n{module}}}'


@pytest.fixture
def bar(direct, sway, tmp_path):
    """A waybar with the module of the guide; gives a function that takes a picture of it."""
    need("waybar", "grim")
    (module,) = re.findall(r'^```json\n("custom/lifed".*?)^```', PAGE, re.M | re.S)
    configuration = tmp_path / "waybar.json"
    configuration.write_text(BAR.format(module=module))
    path = f"{direct.products}:{os.environ['PATH']}"
    environment = {**os.environ, **sway.environment, "LIFED_SOCKET": str(direct.socket), "PATH": path, "HOME": str(tmp_path)}
    with open(tmp_path / "bar-log", "wb") as log:
        process = subprocess.Popen(["waybar", "-c", configuration], env=environment, stdout=log, stderr=log)

    def picture():
        command = ["grim", "-t", "ppm", "-g", "640,0 640x24", "-"]
        return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, timeout=20).stdout

    # The module has a connection to the daemon.
    wait_for(lambda: direct.lifectl.json("status")["status"]["clients"] == 2, what="the module of the bar")
    yield picture
    process.kill()
    process.wait()


def test_waybar_shows_each_change(direct, bar):
    seen = [bar()]

    def shows_another():
        seen.append(bar())
        return seen[-1] not in seen[:-1]

    direct.lifectl.start("mail", "sleep", "infinity")
    wait_for(shows_another, what="a bar with an active app")
    direct.lifectl("background", "mail")
    wait_for(shows_another, what="a bar with a background app")
    direct.lifectl("suspend", "mail")
    wait_for(shows_another, what="a bar with a suspended app")
