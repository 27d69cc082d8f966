import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Meta from 'gi://Meta';
import Shell from 'gi://Shell';

import * as Main from 'resource:///org/gnome/shell/ui/main.js';

const BUS_NAME = 'org.lifed.Windows1';
const OBJECT_PATH = '/org/lifed/Windows1';

/**
 * The interface. `focus` is the number of the focused window, 0 if no window has the focus, and -1 while the screen is
 * locked. A window is its number, its process (0 if mutter does not know it), its desktop id (empty if no desktop entry
 * matches), its visibility, whether the pointer is over it, and its title. The visibility is `visible`, `minimized`,
 * `workspace` (it is on a workspace that is not shown), `covered` or `hidden` (for another reason, such as a locked screen).
 *
 * A change of a title alone is not reported: programs change titles many times a second.
 */
const INTERFACE = `
<node>
  <interface name="${BUS_NAME}">
    <method name="List">
      <arg type="x" direction="out" name="focus"/>
      <arg type="a(xussbs)" direction="out" name="windows"/>
    </method>
    <signal name="Changed">
      <arg type="x" name="focus"/>
      <arg type="a(xussbs)" name="windows"/>
    </signal>
  </interface>
</node>`;

const FOCUS_NONE = 0;
const FOCUS_UNKNOWN = -1;

/** The shell has windows of its own on its X server. They belong to no app. */
const OWN_PROCESS = new Gio.Credentials().get_unix_pid();

/** The number of windows in a report, so that a broken client does not block the bus. */
const WINDOW_LIMIT = 1024;
/** The number of characters of a title in a report. */
const TITLE_LIMIT = 256;

/**
 * Reports the windows of the shell on the session bus.
 *
 * The object reads the windows after the shell has signalled a change, and emits `Changed` if the result differs from the
 * last one. It does not run while nothing changes. No exception leaves it.
 */
export class WindowReporter {
    constructor() {
        /** The identifiers of the handlers of each watched object. */
        this._handlers = new Map();
        /** The object on the bus; null before start() and after stop(). */
        this._exported = null;
        this._nameID = 0;
        /** The pending report; 0 if there is none. */
        this._idleID = 0;
        /** The last report without titles, as text. */
        this._last = '';
    }

    /** Puts the object on the bus and starts to watch the windows. */
    start() {
        this._exported = Gio.DBusExportedObject.wrapJSObject(INTERFACE, this);
        this._exported.export(Gio.DBus.session, OBJECT_PATH);
        this._watch(global.display, {
            'notify::focus-window': null,
            'restacked': null,
            'in-fullscreen-changed': null,
            'window-created': (_display, window) => this._watchWindow(window),
        });
        this._watch(global.workspace_manager, {'active-workspace-changed': null});
        this._watch(Shell.WindowTracker.get_default(), {'tracked-windows-changed': null});
        this._watch(Main.sessionMode, {'updated': null});
        this._scheduleReport();
        // The name comes last: a client that sees the name finds the object.
        this._nameID = Gio.bus_own_name_on_connection(
            Gio.DBus.session, BUS_NAME, Gio.BusNameOwnerFlags.NONE, null, null);
    }

    /** Undoes everything that the object has done. */
    stop() {
        if (this._nameID)
            Gio.bus_unown_name(this._nameID);
        if (this._idleID)
            GLib.source_remove(this._idleID);
        for (const object of [...this._handlers.keys()])
            this._forget(object);
        this._exported?.unexport();
        this._exported = null;
        this._nameID = 0;
        this._idleID = 0;
        this._last = '';
    }

    /** Answers the method `List`. */
    List() {
        return this._guard(() => this._read(), [FOCUS_UNKNOWN, []]);
    }

    // Watching

    /**
     * Schedules a report whenever an object emits a signal.
     *
     * @param {object} object - a watched object
     * @param {object} signals - the names of the signals, each with a function to call first, or null
     */
    _watch(object, signals) {
        const handlers = Object.entries(signals).map(([name, first]) =>
            object.connect(name, (...values) => {
                this._guard(() => first?.(...values));
                this._scheduleReport();
            }));
        this._handlers.set(object, handlers);
    }

    _forget(object) {
        const handlers = this._handlers.get(object) ?? [];
        this._handlers.delete(object);
        for (const handler of handlers)
            this._guard(() => object.disconnect(handler));
    }

    _watchWindow(window) {
        if (this._handlers.has(window))
            return;
        this._watch(window, {
            'notify::minimized': null,
            'notify::fullscreen': null,
            'workspace-changed': null,
            'position-changed': null,
            'size-changed': null,
            'unmanaged': () => this._forget(window),
        });
    }

    /**
     * Watches an actor of a window and all actors in it, which are the surfaces of the window.
     *
     * mutter keeps all events over a window from the shell, also the crossing events. The property `has-pointer` of the
     * surface under the pointer is set nevertheless.
     */
    _watchActor(actor) {
        if (!this._handlers.has(actor)) {
            const signals = {
                'notify::has-pointer': null,
                'destroy': () => this._forget(actor),
            };
            signals[childSignal()] = (_parent, child) => this._watchActor(child);
            if (saysIfObscured(actor))
                signals['notify::is-obscured'] = null;
            this._watch(actor, signals);
        }
        for (const child of actor.get_children())
            this._watchActor(child);
    }

    _scheduleReport() {
        if (this._idleID || !this._exported)
            return;
        // The priority is that of input: the app under the pointer must run before mutter considers it stuck.
        this._idleID = GLib.idle_add(GLib.PRIORITY_DEFAULT, () => {
            this._idleID = 0;
            this._guard(() => this._report());
            return GLib.SOURCE_REMOVE;
        });
    }

    /** Calls a function, and logs its exception. */
    _guard(body, fallback = undefined) {
        try {
            return body();
        } catch (error) {
            logError(error, 'lifed');
            return fallback;
        }
    }

    // Reading

    _report() {
        const [focus, windows] = this._read();
        const essence = JSON.stringify([focus, windows.map(window => window.slice(0, -1))]);
        if (essence === this._last)
            return;
        this._last = essence;
        this._exported.emit_signal('Changed', new GLib.Variant('(xa(xussbs))', [focus, windows]));
    }

    /** Returns the values of the interface. */
    _read() {
        const {isLocked} = Main.sessionMode;
        const covers = [];
        const windows = [];
        // From the top of the stack down.
        const actors = global.get_window_actors().filter(isReported).reverse();
        for (const actor of actors.slice(0, WINDOW_LIMIT)) {
            this._watchWindow(actor.meta_window);
            this._watchActor(actor);
            const visibility = isLocked ? 'hidden' : visibilityOf(actor, covers);
            if (visibility === 'visible' && isCover(actor))
                covers.push(actor.meta_window.get_frame_rect());
            windows.push(describe(actor.meta_window, visibility));
        }
        const focus = global.display.focus_window?.get_id() ?? FOCUS_NONE;
        return [isLocked ? FOCUS_UNKNOWN : focus, windows];
    }
}

function isReported(actor) {
    return actor.meta_window && !actor.is_destroyed() && actor.meta_window.get_pid() !== OWN_PROCESS;
}

/** Returns a window as in the interface. */
function describe(window, visibility) {
    const app = Shell.WindowTracker.get_default().get_window_app(window)?.get_id() ?? '';
    // On X11, mutter would ask the server for the pointer once for each window.
    const isWayland = Meta.is_wayland_compositor?.() ?? true;
    return [
        window.get_id(),
        // mutter has the process from the kernel, or from the X server, which has it from the kernel.
        Math.max(window.get_pid(), 0),
        app.startsWith('window:') ? '' : app.replace(/\.desktop$/, ''),
        visibility,
        isWayland && window.has_pointer(),
        // By characters, because half a surrogate pair is not text.
        [...window.get_title() ?? ''].slice(0, TITLE_LIMIT).join(''),
    ];
}

/** Returns the visibility of a window as in the interface, while the screen is not locked. */
function visibilityOf(actor, covers) {
    const window = actor.meta_window;
    if (window.minimized)
        return 'minimized';
    if (!window.located_on_workspace(global.workspace_manager.get_active_workspace()))
        return 'workspace';
    if (!window.showing_on_its_workspace())
        return 'hidden';
    return isCovered(actor, covers) ? 'covered' : 'visible';
}

/**
 * Returns a Boolean value that indicates whether the windows above a window hide it.
 *
 * Since GNOME 45, mutter says so for each surface. Before, a maximised window counts as opaque.
 *
 * @param {object} actor - the actor of the window
 * @param {Array} covers - the frames of the maximised windows above it
 */
function isCovered(actor, covers) {
    // A surface without content is never obscured.
    const surfaces = descendants(actor).filter(surface => surface.mapped && saysIfObscured(surface));
    if (surfaces.length)
        return surfaces.every(surface => surface.is_obscured);
    const frame = actor.meta_window.get_frame_rect();
    return covers.some(cover => cover.contains_rect(frame));
}

function isCover(actor) {
    const window = actor.meta_window;
    const isMaximised = window.maximized_horizontally && window.maximized_vertically;
    return (window.is_fullscreen() || isMaximised) && actor.opacity === 255;
}

function descendants(actor) {
    return actor.get_children().flatMap(child => [child, ...descendants(child)]);
}

function saysIfObscured(actor) {
    return Boolean(GObject.Object.find_property.call(actor.constructor, 'is-obscured'));
}

/** Returns the signal of an actor for a new child: `actor-added` until GNOME 45. */
function childSignal() {
    return GObject.signal_lookup('child-added', Clutter.Actor.$gtype) ? 'child-added' : 'actor-added';
}
