#!/bin/bash
# Installs lifed from the directory of this script. "install.sh --help" lists the options.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
    cat <<END
Usage: install.sh [--prefix DIR] [--user] [--uninstall]

Install lifed, lifectl, the units, the manual pages and the completions.

  --prefix DIR  Install below DIR; /usr/local by default, ~/.local with --user.
  --user        Install for this user alone, without root.
  --uninstall   Stop the daemon and remove the files. The configuration stays.
  --help        Show this help.

DESTDIR=ROOT in the environment installs into the root directory of an image.
END
}

fail() { # STATUS MESSAGE
    echo "install.sh: $2" >&2
    exit "$1"
}

prefix="" uninstall=""
destdir=${DESTDIR:-}
export SCOPE=system
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) prefix=${2:-}; shift ;;
    --prefix=*) prefix=${1#*=} ;;
    --user) SCOPE=user ;;
    --uninstall) uninstall=yes ;;
    --help) usage; exit 0 ;;
    *) fail 64 "unknown option $1; see install.sh --help" ;;
    esac
    shift || fail 64 "--prefix needs a directory"
done

confdir=/etc/lifed
if [ $SCOPE = user ]; then
    confdir=${XDG_CONFIG_HOME:-$HOME/.config}/lifed
    prefix=${prefix:-$HOME/.local}
elif [ -z "$destdir" ] && [ "$(id -u)" != 0 ]; then
    fail 77 "cannot install for all users: not root; use sudo, or --user"
fi
prefix=${prefix:-/usr/local}
case $prefix in
/*) ;;
*) fail 64 "--prefix needs an absolute path, found $prefix" ;;
esac

if [ $uninstall ]; then
    scripts/uninstall "$destdir" "$prefix" "$confdir"
    exit
fi

# The root directory of an image may be one of another architecture.
if [ -z "$destdir" ]; then
    # Without /proc a program in Swift has no arguments: lifed would not print its version but start.
    [ -e /proc/self/cmdline ] || fail 69 "cannot run lifed: /proc is not mounted; mount it"
    bin/lifed --version >/dev/null || fail 69 "cannot run lifed on this system; see docs/support.md"
fi
install -D -m 755 -t "$destdir$prefix/bin" bin/lifed bin/lifectl
install -D -m 755 -t "$destdir$prefix/lib/lifed" lib/lifed/lifed-keeper
if [ -e bin/lifed-desktop ]; then install -m 755 -t "$destdir$prefix/bin" bin/lifed-desktop; fi
install -d "$destdir$confdir/apps.d"
scripts/install-data "$destdir" "$prefix" "$confdir"

manager=systemctl
if [ $SCOPE = user ]; then manager="systemctl --user"; fi
echo "To start the daemon: $manager enable --now lifed.socket lifed.service"
