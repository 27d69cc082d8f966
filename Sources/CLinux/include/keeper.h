#ifndef CLINUX_KEEPER_H
#define CLINUX_KEEPER_H

// The messages between lifed-keeper and the daemon, over a SOCK_SEQPACKET socket.

#include <stdint.h>

/// A change of a child of the keeper. It is sent again over each new connection until it is confirmed.
struct linux_keeper_news {
    uint32_t number;
    int32_t pid;
    /// One of the CLD_ constants, and the exit status or signal that belongs to it: waitid(2).
    int32_t code;
    int32_t status;
};

/// The daemon that has launched the app sends the pid of the main process first. Then it, and the next daemon, send the number of the
/// latest news that it has handled, or this: the keeper ends, and its children go to the
/// next subreaper.
#define LINUX_KEEPER_RELEASE UINT32_MAX

/// As many daemons connect before the keeper accepts one.
#define LINUX_KEEPER_BACKLOG 4

#endif
