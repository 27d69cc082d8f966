"""What others build on the client libraries, from nothing but what a user has."""

import shutil
import subprocess
from pathlib import Path

import pytest

from container import wait_for

ROOT = Path(__file__).resolve().parents[2]

PACKAGE = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Clock",
    dependencies: [.package(name: "lifed", path: "%s")],
    targets: [.executableTarget(name: "Clock", dependencies: [.product(name: "Lifecycle", package: "lifed")])]
)
"""

MAIN = """import Lifecycle

final class Clock: LifecycleDelegate {
    func applicationDidBecomeActive(_ application: LifecycleApplication) {
        print("tick", application.applicationState)
        application.stop()
    }
}

@main struct Main {
    static func main() throws { try LifecycleApplication.shared.run(delegate: Clock()) }
}
"""


def test_a_new_swift_package_builds_an_app(tmp_path):
    if not shutil.which("swift"):
        pytest.skip("there is no Swift toolchain")
    (tmp_path / "Sources/Clock").mkdir(parents=True)
    (tmp_path / "Package.swift").write_text(PACKAGE % ROOT)
    (tmp_path / "Sources/Clock/Clock.swift").write_text(MAIN)
    build = subprocess.run(["swift", "build", "--package-path", str(tmp_path)], capture_output=True, text=True)
    assert build.returncode == 0, build.stdout + build.stderr
    app = subprocess.run([str(tmp_path / ".build/debug/Clock")], capture_output=True, text=True, timeout=60)
    assert (app.returncode, app.stdout) == (0, "tick active\n")


def test_the_services_of_an_app_end_in_order(direct, tmp_path):
    """The example of swift-service-lifecycle, whose packages the build fetches."""
    if not shutil.which("swift"):
        pytest.skip("there is no Swift toolchain")
    package = tmp_path / "service-lifecycle"
    shutil.copytree(ROOT / "Examples/service-lifecycle", package, ignore=shutil.ignore_patterns(".build", "Package.resolved"))
    manifest = package / "Package.swift"
    manifest.write_text(manifest.read_text().replace('path: "../.."', f'path: "{ROOT}"'))
    swift = lambda *command: subprocess.run(
        ["swift", *command, "--package-path", str(package)], capture_output=True, text=True)
    resolution = swift("package", "resolve")
    if resolution.returncode:
        pytest.skip(f"cannot fetch the packages: {resolution.stderr[-300:]}")
    build = swift("build")
    assert build.returncode == 0, build.stdout + build.stderr

    output = tmp_path / "output"
    direct.lifectl("run", "--id", "services", "--", "sh", "-c", f"exec {package}/.build/debug/ServiceApp >{output}")
    wait_for(lambda: direct.lifectl.app("services")["connected"], what="the app is connected")
    direct.lifectl.start("other", "sleep", "infinity")
    direct.lifectl("focus", "services", "--wait", "answered")
    end = direct.lifectl.json("terminate", "services")["app"]["lastExit"]
    assert (end["reason"], end["exitCode"]) == ("terminate", 0)
    lines = output.read_text().splitlines()
    assert lines[:3] == ["working", "paused", "working"] and lines[-1] == "finished", lines


C_APP = """#include <lifecycle.h>
#include <stdio.h>
#include <stdlib.h>

static void active(void *context) { puts((const char *)context); exit(0); }

int main(void) {
    static struct lifecycle_callbacks callbacks;
    callbacks.size = sizeof callbacks;
    callbacks.did_become_active = active;
    struct lifecycle *app = lifecycle_open(&callbacks, (void *)"tick", 0);
    if (!app) return 1;
    for (;;) lifecycle_dispatch(app);
}
"""


@pytest.mark.parametrize("compiler, options", [("cc", ["-x", "c"]), ("c++", ["-x", "c++"])])
@pytest.mark.parametrize("is_static", [False, True])
def test_pkg_config_is_all_that_a_c_program_needs(container, compiler, options, is_static):
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    container.write("/root/clock.c", C_APP)
    library = "/usr/local/lib/liblifecycle.a" if is_static else "$(pkg-config --libs lifecycle)"
    flags = f"-Wall -Wextra -Werror {' '.join(options)} clock.c -x none $(pkg-config --cflags lifecycle)"
    container.run(["sh", "-c", f"cd /root && {compiler} {flags} {library} -o clock && ./clock | grep -x tick"])


def test_the_library_needs_nothing_but_libc(container):
    needed = container.run(["ldd", "/usr/local/lib/liblifecycle.so"]).stdout.split()
    libraries = {word for word in needed if ".so" in word and not word.startswith("/")}
    assert libraries <= {"linux-vdso.so.1", "libc.so.6"}
    assert int(container.run(["stat", "-L", "-c", "%s", "/usr/local/lib/liblifecycle.so"]).stdout) <= 160 * 1024
    exported = container.run(["nm", "-D", "--defined-only", "/usr/local/lib/liblifecycle.so"]).stdout.splitlines()
    assert exported and all(line.split()[-1].startswith("lifecycle_") for line in exported)
