"""A service on the session bus, for /usr/bin/python3 with python3-gi: answers Echo at once, Slow after a time, Note never."""

import sys

from gi.repository import Gio, GLib

INTERFACE = """
<node><interface name="org.example.Test">
  <method name="Echo"><arg type="s" direction="in"/><arg type="s" direction="out"/></method>
  <method name="Slow"><arg type="u" direction="in"/><arg type="s" direction="out"/></method>
  <method name="Note"><annotation name="org.freedesktop.DBus.Method.NoReply" value="true"/></method>
</interface></node>
"""

log = open(sys.argv[2], "a", buffering=1)


def handle(connection, sender, path, interface, method, parameters, invocation):
    print(method, file=log)
    if method == "Echo":
        invocation.return_value(GLib.Variant("(s)", parameters.unpack()))
    elif method == "Slow":
        GLib.timeout_add(parameters.unpack()[0], lambda: invocation.return_value(GLib.Variant("(s)", ("slow",))))


def acquired(connection, name):
    connection.register_object(
        "/org/example/Test", Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], handle, None, None)


Gio.bus_own_name(
    Gio.BusType.SESSION, sys.argv[1], Gio.BusNameOwnerFlags.NONE, acquired, lambda *_: print("ready", file=log), None)
GLib.MainLoop().run()
