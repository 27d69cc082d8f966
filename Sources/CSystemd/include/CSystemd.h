// The parts of libsystemd that lifed calls: its event loop, its bus and journal clients, its service
// notifications.
//
// Nothing here decides anything. The header exists because Swift imports C modules, not headers, and because one of
// the journal's functions is hidden behind a macro that Swift cannot see through.

#ifndef LIFED_CSYSTEMD_H
#define LIFED_CSYSTEMD_H

// Without this, sd_journal_sendv is a macro that adds the C file and line of its caller, which would always be ours.
#define SD_JOURNAL_SUPPRESS_LOCATION

#include <stdbool.h>
#include <sys/uio.h>

#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

/// sd_journal_sendv(3), which never waits: -EAGAIN when journald does not take the entry. For one thread only.
int csystemd_journal_send(const struct iovec *fields, int count);

#endif
