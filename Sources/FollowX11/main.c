/*
 * lifed-follow-x11: says which window of an X server has the focus and which can be seen, for "lifectl follow x11".
 *
 * A program of its own because it is linked to libxcb, and lifectl, which is linked to nothing, is wanted on devices without X.
 * It writes a line at the start and whenever something has changed:
 *
 *     FOCUS NUMBER:PROCESS:VISIBLE:TITLE NUMBER:PROCESS:VISIBLE:TITLE ...
 *
 * FOCUS is the number of the window with the focus, 0 for none, - where no window manager tells. PROCESS is 0 where it is not
 * known, VISIBLE is 1 or 0, and of the title everything but letters and digits of ASCII is percent-encoded. It ends with the
 * connection to the server, and when its output has no reader any more.
 *
 * What it asks for is in the Extended Window Manager Hints, version 1.5: _NET_ACTIVE_WINDOW, _NET_CLIENT_LIST,
 * _NET_WM_STATE_HIDDEN, _NET_WM_PID.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/res.h>
#include <xcb/xcb.h>

/* More than any user has: a faulty server must not make the program run for ever. */
enum { WINDOW_LIMIT = 4096, TITLE_LIMIT = 256 };

enum atom_name {
    ACTIVE_WINDOW, CLIENT_LIST, SUPPORTED, WM_STATE, WM_STATE_HIDDEN, WM_PID, WM_NAME, ATOM_COUNT
};

static const char *const atom_names[ATOM_COUNT] = {
    [ACTIVE_WINDOW] = "_NET_ACTIVE_WINDOW", [CLIENT_LIST] = "_NET_CLIENT_LIST",
    [SUPPORTED] = "_NET_SUPPORTED",         [WM_STATE] = "_NET_WM_STATE",
    [WM_STATE_HIDDEN] = "_NET_WM_STATE_HIDDEN", [WM_PID] = "_NET_WM_PID",
    [WM_NAME] = "_NET_WM_NAME",
};

static xcb_connection_t *connection;
static xcb_window_t root;
static xcb_atom_t atoms[ATOM_COUNT];
/* Whether the server itself says whose a window is, by what the kernel told it of its client. */
static bool has_client_ids;

/* The requests about one window, all sent before the first reply is read. */
struct question {
    xcb_get_window_attributes_cookie_t attributes;
    xcb_get_property_cookie_t state, name, old_name, claimed_pid;
    xcb_res_query_client_ids_cookie_t client;
};

static xcb_get_property_cookie_t ask_property(xcb_window_t window, xcb_atom_t property, uint32_t longs)
{
    return xcb_get_property(connection, 0, window, property, XCB_ATOM_ANY, 0, longs);
}

static void find_atoms(void)
{
    xcb_intern_atom_cookie_t cookies[ATOM_COUNT];
    for (int i = 0; i < ATOM_COUNT; i++)
        cookies[i] = xcb_intern_atom(connection, 0, (uint16_t)strlen(atom_names[i]), atom_names[i]);
    for (int i = 0; i < ATOM_COUNT; i++) {
        xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(connection, cookies[i], NULL);
        atoms[i] = reply ? reply->atom : XCB_ATOM_NONE;
        free(reply);
    }
}

static void find_client_ids(void)
{
    const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &xcb_res_id);
    if (!extension || !extension->present) return;
    xcb_res_query_version_reply_t *version =
        xcb_res_query_version_reply(connection, xcb_res_query_version(connection, 1, 2), NULL);
    has_client_ids = version && (version->server_major > 1 || version->server_minor >= 2);
    free(version);
}

/* The windows of a list in a property of the root window; an array that is the caller's, NULL where there is none. */
static xcb_window_t *windows_in(xcb_atom_t property, size_t *count)
{
    *count = 0;
    xcb_get_property_reply_t *reply =
        xcb_get_property_reply(connection, ask_property(root, property, WINDOW_LIMIT), NULL);
    if (!reply || reply->format != 32) {
        free(reply);
        return NULL;
    }
    size_t size = (size_t)xcb_get_property_value_length(reply);
    xcb_window_t *windows = malloc(size ? size : 1);
    if (windows) {
        memcpy(windows, xcb_get_property_value(reply), size);
        *count = size / sizeof *windows;
    }
    free(reply);
    return windows;
}

static bool list_contains(const uint32_t *list, size_t count, uint32_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == wanted) return true;
    return false;
}

/* The window with the focus, 0 for none; false where no window manager tells. */
static bool find_focus(xcb_window_t *focus)
{
    size_t count;
    xcb_window_t *active = windows_in(atoms[ACTIVE_WINDOW], &count);
    *focus = count > 0 ? active[0] : XCB_WINDOW_NONE;
    bool is_known = count > 0;
    free(active);
    if (is_known) return true;
    xcb_atom_t *supported = windows_in(atoms[SUPPORTED], &count);
    is_known = supported && list_contains(supported, count, atoms[ACTIVE_WINDOW]);
    free(supported);
    return is_known;
}

static struct question ask(xcb_window_t window)
{
    /* Hears from now on when it is shown and hidden. */
    uint32_t mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY | XCB_EVENT_MASK_PROPERTY_CHANGE;
    if (window != root) xcb_change_window_attributes(connection, window, XCB_CW_EVENT_MASK, &mask);
    struct question question = {
        .attributes = xcb_get_window_attributes(connection, window),
        .state = ask_property(window, atoms[WM_STATE], 64),
        .name = ask_property(window, atoms[WM_NAME], TITLE_LIMIT / 4),
        .old_name = ask_property(window, XCB_ATOM_WM_NAME, TITLE_LIMIT / 4),
        .claimed_pid = ask_property(window, atoms[WM_PID], 1),
    };
    if (has_client_ids) {
        xcb_res_client_id_spec_t spec = {.client = window, .mask = XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID};
        question.client = xcb_res_query_client_ids(connection, 1, &spec);
    }
    return question;
}

static uint32_t attested_pid(xcb_res_query_client_ids_cookie_t cookie)
{
    uint32_t pid = 0;
    xcb_res_query_client_ids_reply_t *reply = xcb_res_query_client_ids_reply(connection, cookie, NULL);
    if (!reply) return 0;
    xcb_res_client_id_value_iterator_t value = xcb_res_query_client_ids_ids_iterator(reply);
    for (; value.rem > 0; xcb_res_client_id_value_next(&value))
        if (value.data->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID
            && xcb_res_client_id_value_value_length(value.data) > 0)
            pid = *xcb_res_client_id_value_value(value.data);
    free(reply);
    return pid;
}

/* What the server knows of the client, and else what the client says of itself. */
static uint32_t pid_of(const struct question *question)
{
    uint32_t pid = has_client_ids ? attested_pid(question->client) : 0;
    xcb_get_property_reply_t *claim = xcb_get_property_reply(connection, question->claimed_pid, NULL);
    if (!has_client_ids && claim && claim->format == 32 && xcb_get_property_value_length(claim) >= 4)
        memcpy(&pid, xcb_get_property_value(claim), sizeof pid);
    free(claim);
    return pid;
}

/* On the screen, as far as a window manager tells: shown with all that it is in, and not said to be hidden. */
static bool is_visible(const struct question *question)
{
    xcb_get_window_attributes_reply_t *attributes =
        xcb_get_window_attributes_reply(connection, question->attributes, NULL);
    xcb_get_property_reply_t *state = xcb_get_property_reply(connection, question->state, NULL);
    bool is_hidden = state && state->format == 32
        && list_contains(xcb_get_property_value(state), (size_t)xcb_get_property_value_length(state) / 4,
                         atoms[WM_STATE_HIDDEN]);
    bool is_mapped = attributes && attributes->map_state == XCB_MAP_STATE_VIEWABLE;
    free(attributes);
    free(state);
    return is_mapped && !is_hidden;
}

static void write_encoded(FILE *line, const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = text[i];
        bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
        fprintf(line, is_plain ? "%c" : "%%%02X", byte);
    }
}

static void write_title(FILE *line, const struct question *question)
{
    xcb_get_property_reply_t *names[2] = {
        xcb_get_property_reply(connection, question->name, NULL),
        xcb_get_property_reply(connection, question->old_name, NULL),
    };
    for (int i = 0; i < 2; i++) {
        if (!names[i] || names[i]->format != 8 || xcb_get_property_value_length(names[i]) == 0) continue;
        write_encoded(line, xcb_get_property_value(names[i]), (size_t)xcb_get_property_value_length(names[i]));
        break;
    }
    free(names[0]);
    free(names[1]);
}

static void write_windows(FILE *line, const xcb_window_t *windows, size_t count)
{
    struct question *questions = calloc(count ? count : 1, sizeof *questions);
    if (!questions) return;
    for (size_t i = 0; i < count; i++) questions[i] = ask(windows[i]);
    for (size_t i = 0; i < count; i++) {
        fprintf(line, " %u:%u%s:%d:", windows[i], pid_of(&questions[i]), has_client_ids ? "" : "?",
                is_visible(&questions[i]));
        write_title(line, &questions[i]);
    }
    free(questions);
}

/* What there is to say now; the caller's to free. NULL where there is no memory. */
static char *current_line(void)
{
    char *text = NULL;
    size_t length, count;
    FILE *line = open_memstream(&text, &length);
    if (!line) return NULL;
    xcb_window_t focus;
    if (find_focus(&focus))
        fprintf(line, "%u", focus);
    else
        fputc('-', line);
    xcb_window_t *windows = windows_in(atoms[CLIENT_LIST], &count);
    write_windows(line, windows, count);
    if (focus != XCB_WINDOW_NONE && !list_contains(windows, count, focus)) write_windows(line, &focus, 1);
    free(windows);
    fputc('\n', line);
    fclose(line);
    return text;
}

/* Whether an event may have changed what there is to say. Titles change all the time and are not waited for. */
static bool is_news(const xcb_generic_event_t *event)
{
    switch (event->response_type & 0x7f) {
    case XCB_MAP_NOTIFY:
    case XCB_UNMAP_NOTIFY:
    case XCB_DESTROY_NOTIFY:
    case XCB_REPARENT_NOTIFY: return true;
    case XCB_PROPERTY_NOTIFY: {
        xcb_atom_t atom = ((const xcb_property_notify_event_t *)event)->atom;
        return atom == atoms[ACTIVE_WINDOW] || atom == atoms[CLIENT_LIST] || atom == atoms[SUPPORTED]
            || atom == atoms[WM_STATE];
    }
    default: return false;
    }
}

static bool take_events(void)
{
    bool has_news = false;
    xcb_generic_event_t *event;
    while ((event = xcb_poll_for_event(connection))) {
        has_news |= is_news(event);
        free(event);
    }
    return has_news;
}

/* Waits for the server, or for the end of the reader. */
static bool wait_for_events(void)
{
    struct pollfd entries[] = {
        {.fd = xcb_get_file_descriptor(connection), .events = POLLIN},
        {.fd = STDOUT_FILENO},
    };
    while (poll(entries, 2, -1) < 0)
        if (errno != EINTR) return false;
    return !(entries[1].revents & (POLLERR | POLLHUP | POLLNVAL));
}

static bool write_all(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t count = write(STDOUT_FILENO, text, length);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) {
            text += count;
            length -= (size_t)count;
        }
    }
    return true;
}

static int follow(void)
{
    char *last = NULL;
    bool has_news = true;
    while (!xcb_connection_has_error(connection)) {
        if (has_news) {
            char *line = current_line();
            /* A server that has gone answers nothing, and that is no news of its windows. */
            if (!line || xcb_connection_has_error(connection)) break;
            bool is_new = !last || strcmp(line, last) != 0;
            if (is_new && !write_all(line, strlen(line))) return EXIT_SUCCESS;
            free(last);
            last = line;
        }
        xcb_flush(connection);
        /* What came while answers were waited for is in the library's queue, and does not make the socket readable. */
        has_news = take_events();
        if (has_news) continue;
        if (!wait_for_events()) return EXIT_SUCCESS;
        has_news = take_events();
    }
    fputs("the X server has closed the connection\n", stderr);
    return EXIT_FAILURE;
}

int main(void)
{
    const char *display = getenv("DISPLAY");
    int number = 0;
    connection = xcb_connect(NULL, &number);
    if (xcb_connection_has_error(connection)) {
        if (display && *display)
            fprintf(stderr, "the X server at DISPLAY=%s does not answer\n", display);
        else
            fputs("DISPLAY is not set\n", stderr);
        return EXIT_FAILURE;
    }
    xcb_screen_iterator_t screen = xcb_setup_roots_iterator(xcb_get_setup(connection));
    while (number-- > 0 && screen.rem > 1) xcb_screen_next(&screen);
    root = screen.data->root;
    find_atoms();
    find_client_ids();
    uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE | XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY;
    xcb_change_window_attributes(connection, root, XCB_CW_EVENT_MASK, &mask);
    return follow();
}
