#include "CWayland.h"

#define COUNT(table) (int)(sizeof(table) / sizeof *(table))
#define INTERFACE(name, version, requests, events) {name, version, COUNT(requests), requests, COUNT(events), events}

// The types of the arguments of a message without new objects.
static const struct wl_interface *untyped[5];

// ---- zwlr_foreign_toplevel_management_unstable_v1

static const struct wl_message toplevel_requests[] = {
    {"set_maximized", "", untyped},   {"unset_maximized", "", untyped},    {"set_minimized", "", untyped},
    {"unset_minimized", "", untyped}, {"activate", "o", untyped},          {"close", "", untyped},
    {"set_rectangle", "oiiii", untyped}, {"destroy", "", untyped},         {"set_fullscreen", "2?o", untyped},
    {"unset_fullscreen", "2", untyped},
};
static const struct wl_message toplevel_events[] = {
    {"title", "?s", untyped},         {"app_id", "?s", untyped}, {"output_enter", "?o", untyped},
    {"output_leave", "?o", untyped},  {"state", "a", untyped},   {"done", "", untyped},
    {"closed", "", untyped},          {"parent", "3?o", untyped},
};
static const struct wl_interface toplevel =
    INTERFACE("zwlr_foreign_toplevel_handle_v1", 3, toplevel_requests, toplevel_events);

static const struct wl_interface *new_toplevel[] = {&toplevel};
static const struct wl_message manager_requests[] = {{"stop", "", untyped}};
static const struct wl_message manager_events[] = {{"toplevel", "n", new_toplevel}, {"finished", "", untyped}};
static const struct wl_interface manager =
    INTERFACE("zwlr_foreign_toplevel_manager_v1", 3, manager_requests, manager_events);

// ---- plasma_window_management

static const struct wl_message window_requests[] = {
    {"set_state", "uu", untyped},
    {"set_virtual_desktop", "u", untyped},
    {"set_minimized_geometry", "ouuuu", untyped},
    {"unset_minimized_geometry", "o", untyped},
    {"close", "", untyped},
    {"request_move", "3", untyped},
    {"request_resize", "3", untyped},
    {"destroy", "4", untyped},
    {"get_icon", "7h", untyped},
    {"request_enter_virtual_desktop", "8s", untyped},
    {"request_enter_new_virtual_desktop", "8", untyped},
    {"request_leave_virtual_desktop", "8s", untyped},
    {"request_enter_activity", "14s", untyped},
    {"request_leave_activity", "14s", untyped},
    {"send_to_output", "15o", untyped},
};
static const struct wl_message window_events[] = {
    {"title_changed", "?s", untyped},
    {"app_id_changed", "?s", untyped},
    {"state_changed", "u", untyped},
    {"virtual_desktop_changed", "i", untyped},
    {"themed_icon_name_changed", "?s", untyped},
    {"unmapped", "", untyped},
    {"initial_state", "4", untyped},
    {"parent_window", "5?o", untyped},
    {"geometry", "6iiuu", untyped},
    {"icon_changed", "7", untyped},
    {"pid_changed", "u", untyped},
    {"virtual_desktop_entered", "8?s", untyped},
    {"virtual_desktop_left", "8?s", untyped},
    {"application_menu", "10?s?s", untyped},
    {"activity_entered", "14?s", untyped},
    {"activity_left", "14?s", untyped},
    {"resource_name_changed", "16?s", untyped},
};
static const struct wl_interface plasma_window = INTERFACE("org_kde_plasma_window", 16, window_requests, window_events);

static const struct wl_interface *new_window[] = {&plasma_window, 0};
static const struct wl_message management_requests[] = {
    {"show_desktop", "u", untyped}, {"get_window", "nu", new_window}, {"get_window_by_uuid", "12ns", new_window},
};
static const struct wl_message management_events[] = {
    {"show_desktop_changed", "u", untyped},
    {"window", "u", untyped},
    {"stacking_order_changed", "11a", untyped},
    {"stacking_order_uuid_changed", "12?s", untyped},
    {"window_with_uuid", "13u?s", untyped},
};
static const struct wl_interface management =
    INTERFACE("org_kde_plasma_window_management", 16, management_requests, management_events);

// ---- org_kde_plasma_virtual_desktop

static const struct wl_message desktop_requests[] = {{"request_activate", "", untyped}};
static const struct wl_message desktop_events[] = {
    {"desktop_id", "?s", untyped},  {"name", "?s", untyped}, {"activated", "", untyped},
    {"deactivated", "", untyped},   {"done", "", untyped},   {"removed", "", untyped},
};
static const struct wl_interface desktop =
    INTERFACE("org_kde_plasma_virtual_desktop", 1, desktop_requests, desktop_events);

static const struct wl_interface *new_desktop[] = {&desktop, 0};
static const struct wl_message desktops_requests[] = {
    {"get_virtual_desktop", "ns", new_desktop},
    {"request_create_virtual_desktop", "su", untyped},
    {"request_remove_virtual_desktop", "s", untyped},
};
static const struct wl_message desktops_events[] = {
    {"desktop_created", "?su", untyped}, {"desktop_removed", "?s", untyped}, {"done", "", untyped}, {"rows", "2u", untyped},
};
static const struct wl_interface desktops =
    INTERFACE("org_kde_plasma_virtual_desktop_management", 2, desktops_requests, desktops_events);

const struct wl_interface *cwayland_output(void) { return &wl_output_interface; }
const struct wl_interface *cwayland_foreign_toplevel_manager(void) { return &manager; }
const struct wl_interface *cwayland_plasma_window_management(void) { return &management; }
const struct wl_interface *cwayland_plasma_window(void) { return &plasma_window; }
const struct wl_interface *cwayland_plasma_virtual_desktop_management(void) { return &desktops; }
const struct wl_interface *cwayland_plasma_virtual_desktop(void) { return &desktop; }
