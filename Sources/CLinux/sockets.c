#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static bool set_path(struct sockaddr_un *address, const char *path, size_t length)
{
    if (length == 0 || length >= sizeof address->sun_path || memchr(path, 0, length))
        return false;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, path, length);
    return true;
}

int linux_connect_path(int socket, const char *path, size_t length)
{
    struct sockaddr_un address;
    if (!set_path(&address, path, length))
        return -ENAMETOOLONG;
    return connect(socket, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

int linux_bind_path(int socket, const char *path, size_t length)
{
    struct sockaddr_un address;
    if (!set_path(&address, path, length))
        return -ENAMETOOLONG;
    return bind(socket, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

// Makes a SOCK_SEQPACKET socket, and binds or connects it to a name in a directory. The path of a directory may be longer than
// an address.
static int use_name(const char *directory, const char *name, int (*use)(int, const char *, size_t))
{
    char path[64];
    int parent = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return -errno;
    int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", parent, name);
    int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = descriptor < 0 ? -errno : 0;
    if (error == 0)
        error = length < (int)sizeof path ? use(descriptor, path, (size_t)length) : -ENAMETOOLONG;
    close(parent);
    if (error == 0)
        return descriptor;
    if (descriptor >= 0)
        close(descriptor);
    return error;
}

int linux_listen_for_packets(const char *directory, const char *name)
{
    int descriptor = use_name(directory, name, linux_bind_path);
    if (descriptor < 0 || listen(descriptor, LINUX_KEEPER_BACKLOG) == 0)
        return descriptor;
    int error = -errno;
    close(descriptor);
    return error;
}

int linux_connect_for_packets(const char *directory, const char *name)
{
    return use_name(directory, name, linux_connect_path);
}

int linux_accept(int socket)
{
    int descriptor = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

int linux_peer_credentials(int socket, struct linux_peer *peer)
{
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0)
        return -errno;
    *peer = (struct linux_peer){.process = credentials.pid, .user = credentials.uid, .group = credentials.gid};
    return 0;
}

int linux_identify_senders(int socket, bool identifies)
{
    int value = identifies;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &value, sizeof value) < 0 ? -errno : 0;
}

ssize_t linux_receive_from_sender(int socket, void *buffer, size_t size, int flags, pid_t *sender)
{
    // The credentials come first and leave no room for descriptors.
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *sender = 0;
    ssize_t count = recvmsg(socket, &message, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS) {
        struct ucred credentials;
        memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
        *sender = credentials.pid;
    }
    return count;
}

int linux_peer_pidfd(int socket)
{
    int descriptor = -1;
    socklen_t length = sizeof descriptor;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) < 0)
        return -errno;
    return descriptor;
}

int linux_pidfd_has_ended(int pidfd)
{
    struct pollfd request = {.fd = pidfd, .events = POLLIN};
    int count = poll(&request, 1, 0);
    return count < 0 ? -errno : count;
}

int linux_peer_groups(int socket, gid_t *groups, int capacity)
{
    socklen_t length = (socklen_t)capacity * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0)
        return -errno;
    return (int)(length / sizeof *groups);
}
