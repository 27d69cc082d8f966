"""What the tests of a daemon that takes over share."""


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


def start_again(daemon, between=lambda: None):
    kill(daemon)
    between()
    daemon.start()


def configure(daemon, text="", timeouts="background = '0s'"):
    (daemon.configuration / "lifed.toml").write_text(
        f"containment = '{daemon.containment}'\n{text}\n[timeouts]\n{timeouts}\n"
    )
    daemon.stop()
    daemon.start()


def manifest(daemon, identifier, command, extra=""):
    words = ", ".join("'''" + word + "'''" for word in command)
    (daemon.configuration / f"apps.d/{identifier}.toml").write_text(f"command = [{words}]\n{extra}\n")
    daemon.lifectl("reload")


def state_file(daemon):
    return daemon.runtime / "state"
