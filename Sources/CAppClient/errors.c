#include "CAppClient.h"

#include <errno.h>

int lifecycle_errno(void) { return errno; }

void lifecycle_set_errno(int error) { errno = error; }

int lifecycle_invalid_argument(void) { return EINVAL; }
int lifecycle_busy(void) { return EBUSY; }
int lifecycle_file_too_big(void) { return EFBIG; }
int lifecycle_bad_message(void) { return EBADMSG; }
int lifecycle_no_entry(void) { return ENOENT; }
int lifecycle_try_again(void) { return EAGAIN; }
