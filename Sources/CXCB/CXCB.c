#include "CXCB.h"

const xcb_query_extension_reply_t *cxcb_resource_extension(xcb_connection_t *connection)
{
    return xcb_get_extension_data(connection, &xcb_res_id);
}
