// libwayland's client, as Swift can import it, and the interfaces of the protocols that tell windows. Nothing here decides
// anything.
//
// The protocols that libwayland does not know are written down as tables: zwlr_foreign_toplevel_management_unstable_v1,
// version 3; plasma_window_management, version 16; org_kde_plasma_virtual_desktop, version 2. Every request and event has its
// place, because its place is its number on the wire. A text or an object of an event may be null wherever the protocol allows it: libwayland
// ends the connection at a null that the protocol forbids.

#ifndef LIFED_CWAYLAND_H
#define LIFED_CWAYLAND_H

#include <wayland-client.h>

// Libwayland keeps the address of an interface. Swift has none of a constant, only a copy.

const struct wl_interface *cwayland_output(void);
const struct wl_interface *cwayland_foreign_toplevel_manager(void);
const struct wl_interface *cwayland_plasma_window_management(void);
const struct wl_interface *cwayland_plasma_window(void);
const struct wl_interface *cwayland_plasma_virtual_desktop_management(void);
const struct wl_interface *cwayland_plasma_virtual_desktop(void);

#endif
