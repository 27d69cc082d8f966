#pragma once

#include <stddef.h>
#include <stdint.h>

// What the C library's codec makes of a line, given without its line feed: the message written again, or the words of the
// error, as many bytes as fit. Returns how many there are. The app's messages are those that the daemon reads.
ptrdiff_t embedded_message_to_app(const uint8_t *line, ptrdiff_t length, uint8_t *text, ptrdiff_t capacity);
ptrdiff_t embedded_message_from_app(const uint8_t *line, ptrdiff_t length, uint8_t *text, ptrdiff_t capacity);
