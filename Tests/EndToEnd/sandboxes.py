"""Sandboxes of other programs, made from what is installed."""

import pytest

# A runtime and an app of busybox alone, from a repository in the file system.
FLATPAK = """
set -e
mkdir -p /fp/rt/usr/bin /fp/rt/usr/lib /fp/rt/usr/etc /fp/rt/files
cd /fp
cp "$(command -v busybox)" rt/usr/bin/busybox
for name in sh sleep; do ln -s busybox rt/usr/bin/$name; done
arch=$(flatpak --default-arch)
printf '[Runtime]\\nname=org.test.Platform\\nruntime=org.test.Platform/%s/1\\nsdk=org.test.Platform/%s/1\\n' $arch $arch >rt/metadata
ostree --repo=repo init --mode=archive-z2
flatpak build-export --runtime repo rt 1
flatpak remote-add --no-gpg-verify test file:///fp/repo
flatpak install -y --noninteractive test runtime/org.test.Platform//1
flatpak build-init app org.test.App org.test.Platform org.test.Platform 1
mkdir -p app/files/bin
printf '#!/bin/sh\\nsleep 4321 & exec sleep 4321\\n' >app/files/bin/run
chmod +x app/files/bin/run
flatpak build-finish app --command=run
flatpak build-export repo app 1
flatpak install -y --noninteractive test org.test.App//1
"""

# An app with the sample in C, which finds the socket for apps by the permission.
FLATPAK_CLOCK = """
set -e
cd /fp
source=/lifed-source/.build/liblifecycle
flatpak build-init clock org.test.Clock org.test.Platform org.test.Platform 1
mkdir -p clock/files/lib clock/files/bin
cp "$source"/c-app clock/files/bin/run.real
cp -L "$source"/lib/*.so* clock/files/lib/
ldd "$source"/c-app "$source"/lib/*.so | grep -o '/lib[^ ]* (0x' | cut -d' ' -f1 | grep -v liblifecycle | sort -u | xargs -I{} cp -Ln {} clock/files/lib/
printf '#!/bin/sh\\nexec /app/lib/ld-linux-x86-64.so.2 --library-path /app/lib /app/bin/run.real\\n' >clock/files/bin/run
chmod +x clock/files/bin/run
flatpak build-finish clock --command=run --filesystem=xdg-run/lifed
flatpak build-export repo clock 1
flatpak install -y --noninteractive test org.test.Clock//1
"""


def prepare(container, script, *needed):
    for program in needed:
        if container.run(["sh", "-c", f"command -v {program}"], check=False).returncode:
            pytest.skip(f"{program} is not installed")
    result = container.run(["sh", "-c", script], check=False)
    if result.returncode:
        pytest.skip(f"{needed[0]} does not work here: {result.stderr[-500:]}")
