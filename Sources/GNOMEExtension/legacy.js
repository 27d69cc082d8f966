// The extension for GNOME 43 and 44, which load no modules. scripts/build-gnome-extension appends windows.js without its
// imports, and writes the result to extension/__init__.js: these versions prefer a directory to extension.js.
const {Clutter, Gio, GLib, GObject, Meta, Shell} = imports.gi;
const Main = imports.ui.main;

let reporter = null;

/* exported init */
function init() {
    return {
        enable() {
            reporter = new WindowReporter();
            reporter.start();
        },
        disable() {
            reporter?.stop();
            reporter = null;
        },
    };
}
