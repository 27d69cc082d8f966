import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';

import {WindowReporter} from './windows.js';

/** The extension for GNOME 45 and later, which load extensions as modules. */
export default class LifedExtension extends Extension {
    enable() {
        this._reporter = new WindowReporter();
        this._reporter.start();
    }

    // The extension stays enabled while the screen is locked (session-modes): only then can lifed-desktop know that no
    // window is visible. It reads no input.
    disable() {
        this._reporter?.stop();
        this._reporter = null;
    }
}
