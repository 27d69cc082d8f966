"""The identifiers of journal entries, as the daemon's source has them."""

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "Sources/LifecycleTypes/MessageID.swift"


def identifiers():
    return dict(re.findall(r'case (\w+) = "([^"]*)"', SOURCE.read_text()))
