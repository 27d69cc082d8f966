"""Programs that the tests run as apps."""

BUSY = ["sh", "-c", "while :; do :; done"]
IDLE = ["sleep", "infinity"]
FAMILY = ["sh", "-c", "sh -c 'sleep infinity & sleep infinity' & sleep infinity & wait"]

# Ignores SIGTERM, and so do its children.
STUBBORN = ["sh", "-c", "trap '' TERM; sleep infinity & sleep infinity & while :; do sleep infinity; done"]

# A helper that leaves its session and its parent.
RUNAWAY = ["sh", "-c", "setsid sh -c 'sleep infinity & sleep infinity' & exec sleep infinity"]

TALKER = ["sh", "-c", "echo said on output; echo said on error >&2; exec sleep infinity"]
