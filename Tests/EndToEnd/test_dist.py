"""The archive with an installer: what it installs, and that the programs run from there."""

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

import programs
from direct import DirectDaemon

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("LIFED_BUILD", "release")


def run(*command, status=0, **environment):
    result = subprocess.run(
        [str(each) for each in command], cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == status, f"{command}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    if not shutil.which("strip"):
        pytest.skip("there is no strip")
    directory = tmp_path_factory.mktemp("dist")
    run("scripts/dist", directory, "1.2.3", BUILD=BUILD)
    return next(directory.iterdir())


@pytest.fixture(scope="module")
def unpacked(archive):
    with tarfile.open(archive) as tar:
        tar.extractall(archive.parent, filter="tar")
    return archive.parent / archive.name.removesuffix(".tar.gz")


def files(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir()}


def test_the_archive_has_one_directory_and_belongs_to_root(archive):
    assert archive.name == f"lifed-1.2.3-linux-{os.uname().machine}.tar.gz"
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    assert {member.name.partition("/")[0] for member in members} == {archive.name.removesuffix(".tar.gz")}
    assert {(member.uid, member.gid) for member in members} == {(0, 0)}
    assert all(member.mode & 0o022 == 0 for member in members if not member.issym())


def test_it_installs_what_make_installs_but_for_the_c_library(unpacked, tmp_path):
    if not (ROOT / ".build/liblifecycle/lib").exists():
        pytest.skip("the C library is not built")
    run("make", "install", f"DESTDIR={tmp_path}/make", "PREFIX=/usr", f"BUILD={BUILD}")
    run(unpacked / "install.sh", "--prefix", "/usr", DESTDIR=f"{tmp_path}/dist")
    made, installed = files(tmp_path / "make"), files(tmp_path / "dist")
    assert installed <= made
    assert all(re.search(r"lib(lifecycle|/pkgconfig)|lifecycle\.h$|/man3/", name) for name in made - installed), made - installed
    unit = (tmp_path / "dist/usr/lib/systemd/system/lifed.service").read_text()
    assert "ExecStart=/usr/bin/lifed" in unit and "@" not in unit.replace("user@", "")

    run(unpacked / "install.sh", "--prefix=/usr", "--uninstall", DESTDIR=f"{tmp_path}/dist")
    assert all(name.startswith("etc/lifed/") for name in files(tmp_path / "dist"))


def test_a_user_installs_it_runs_it_and_removes_it(unpacked, tmp_path):
    home, runtime = tmp_path / "home", tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    own = {"HOME": str(home), "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": str(runtime), "DESTDIR": ""}
    said = run(unpacked / "install.sh", "--user", **own)
    assert "systemctl --user enable --now lifed.socket lifed.service" in said
    prefix = home / ".local"
    unit = (prefix / "share/systemd/user/lifed.service").read_text()
    assert f"ExecStart={prefix}/bin/lifed --user" in unit
    assert not (prefix / "lib/sysusers.d").exists() and not (prefix / "lib/systemd").exists()

    daemon = DirectDaemon(prefix / "bin", tmp_path / "daemon")
    daemon.start()
    try:
        pid = daemon.lifectl.start("clock", *programs.IDLE)
        daemon.lifectl("terminate", "clock")
        assert not daemon.kernel.exists(pid)
    finally:
        daemon.stop()

    run(unpacked / "install.sh", "--user", "--uninstall", **own)
    left = files(home)
    assert left and all(name.startswith(".config/lifed/") for name in left), left


def test_a_build_without_the_desktops_program_makes_an_archive(tmp_path):
    if not shutil.which("strip"):
        pytest.skip("there is no strip")
    products, archives = tmp_path / "products", tmp_path / "archives"
    products.mkdir()
    for name in ("lifed", "lifectl", "lifed-keeper"):
        (products / name).symlink_to(ROOT / ".build" / BUILD / name)
    run("scripts/dist", archives, "1.2.3", BUILD=os.path.relpath(products, ROOT / ".build"))
    with tarfile.open(next(archives.iterdir())) as tar:
        programs = [member.name.partition("/")[2] for member in tar.getmembers() if "/bin/" in member.name or "/lib" in member.name]
    assert [name for name in programs if "." not in name and name.count("/") > 0] == ["bin/lifectl", "bin/lifed", "lib/lifed", "lib/lifed/lifed-keeper"]


@pytest.mark.parametrize(("missing", "package"), [("strip", "binutils"), ("python3", "python3")])
def test_a_missing_tool_is_named(tmp_path, missing, package):
    for name in {"dirname", "strip", "python3"} - {missing}:
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/true")
    said = run("scripts/dist", tmp_path / "archives", status=1, PATH=str(tmp_path))
    assert said == f"cannot build the archive: {missing} is missing; install it (Debian: {package})\n"
    assert not (tmp_path / "archives").exists()


@pytest.mark.parametrize("words", [["--nothing"], ["--prefix", "relative"], ["--prefix"]])
def test_a_wrong_option_installs_nothing(unpacked, tmp_path, words):
    said = run(unpacked / "install.sh", *words, status=64, DESTDIR=str(tmp_path))
    assert said.startswith("install.sh: ") and said.count("\n") == 1
    assert not files(tmp_path)
