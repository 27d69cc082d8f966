// SwiftPM wants a target of C to have a source; the object that is linked in is compiled by scripts/fuzz.
#include "EmbeddedCodec.h"
