"""The daemon as a service of the container's systemd."""

from kernel import Kernel
from lifectl import Lifectl

UNITS = ["lifed.service", "lifed.socket"]


class Service:
    socket = "/run/lifed/control"

    def __init__(self, container):
        self.container = container
        self.kernel = Kernel(container.path("/proc"))
        self.lifectl = Lifectl(container.run)

    def systemctl(self, *arguments, check=True):
        return self.container.run(["systemctl", *arguments], check=check)

    def start(self):
        self.systemctl("start", "lifed.service")

    def reset(self):
        """Back to a fresh installation: stopped, no configuration of a test's, no state."""
        self.systemctl("stop", *UNITS, check=False)
        # A unit that has failed is not stopped, and what it left behind goes on.
        self.systemctl("kill", "--kill-who=all", "--signal=KILL", "lifed.service", check=False)
        self.systemctl("reset-failed", *UNITS, check=False)
        self.container.run(["sh", "-c", "rm -rf /etc/lifed/apps.d/*.toml /etc/lifed/lifed.toml /var/lib/lifed/*"])
        self.container.run(["sh", "-c", "rm -rf /run/systemd/system/lifed.service.d"])
        self.systemctl("daemon-reload")

    def show(self, name):
        return self.systemctl("show", "-P", name, "lifed.service").stdout.strip()

    @property
    def pid(self):
        return int(self.show("MainPID"))

    def configure(self, text):
        self.container.write("/etc/lifed/lifed.toml", text)

    def manifest(self, identifier, command, extra=""):
        words = ", ".join("'''" + word + "'''" for word in command)
        text = f'id = "{identifier}"\ncommand = [{words}]\n{extra}\n'
        self.container.write(f"/etc/lifed/apps.d/{identifier}.toml", text)

    def drop_in(self, text):
        self.container.write("/run/systemd/system/lifed.service.d/test.conf", text)
        self.systemctl("daemon-reload")

    def members(self):
        """The processes in the service's cgroup, by the kernel's account."""
        group = self.show("ControlGroup")
        if not group:
            return []
        find = f"find /sys/fs/cgroup{group} -name cgroup.procs -exec cat '{{}}' +"
        return [int(pid) for pid in self.container.run(["sh", "-c", find], check=False).stdout.split()]

    @property
    def address(self):
        """The control socket as it is reached from outside of the container."""
        return str(self.container.path(self.socket))
