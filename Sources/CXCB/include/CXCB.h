// libxcb and its X-Resource extension, as Swift can import them. Nothing here decides anything.

#ifndef LIFED_CXCB_H
#define LIFED_CXCB_H

#include <xcb/res.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// The X-Resource extension of a server; NULL if the connection has ended. Swift cannot see xcb_res_id.
const xcb_query_extension_reply_t *cxcb_resource_extension(xcb_connection_t *connection);

#endif
