"""The same bench in a container of which systemd is the first process, so that systemd can be measured beside the others."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from container import Container, Unavailable
from managers import ROOT

CONTAINER = "--container"
# Where the container has the sources and what was built, read-only.
SOURCE = Path("/lifed-source")
OUTPUT = Path("/var/tmp/lifed-bench")
# Each app of a crowd takes a descriptor here, and a service has a thousand unless it says so.
PROPERTIES = ("--property=Delegate=yes", "--property=LimitNOFILE=524288")
RESULTS = ("bench.json", "bench.svg")


def run_contained(settings):
    """Runs the bench inside, copies its results to this machine, and returns its exit status."""
    try:
        container = Container(ROOT)
    except Unavailable as reason:
        sys.exit(f"no container: {reason}")
    try:
        with tempfile.TemporaryFile() as console:
            container.boot(console)
        status = container.popen(command(settings), stdin=subprocess.DEVNULL).wait()
        if status == 0:
            fetch(container, settings.output)
        return status
    except Unavailable as reason:
        sys.exit(f"no container: {reason}")
    finally:
        container.shut_down()


def command(settings):
    """As a service, with a part of the control groups that is its own: lifed makes those of its apps there."""
    # The compilers and supervisors are where they are on this machine.
    path = f"--setenv=PATH={os.environ['PATH']}"
    service = ["systemd-run", "--quiet", "--wait", "--pipe", "--collect", *PROPERTIES, path]
    # The last of several options with the same name is the one that counts.
    options = [each for each in sys.argv[1:] if each != CONTAINER]
    places = [f"--products={inside(settings.products)}", f"--output={OUTPUT}", f"--seed={settings.seed}"]
    python = Path(sys.executable).resolve()
    return [*service, "--", inside(python), inside(Path(__file__).with_name("bench.py")), *options, *places]


def inside(path):
    """Beside the sources, the container has the file system of / alone."""
    path = path.absolute()
    return SOURCE / path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def fetch(container, output):
    output.mkdir(parents=True, exist_ok=True)
    for name in RESULTS:
        text = container.run(["cat", OUTPUT / name]).stdout
        (output / name).write_text(text, encoding="utf-8")
    print(f"copied to: {output}")
