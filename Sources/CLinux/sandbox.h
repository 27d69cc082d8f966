#ifndef CLINUX_SANDBOX_H
#define CLINUX_SANDBOX_H

/// Gives this process a mount namespace with an empty /tmp and /var/tmp. 0, or a negated errno.
int linux_make_private_tmp(void);

/// Leaves this process and its descendants the files below some paths, and the devices, as the only ones to write to.
///
/// The process must have no_new_privs. 0, or a negated errno; `path` is the index of the path that it concerns, or as it was.
int linux_restrict_writes(char *const *paths, int *path);

#endif
