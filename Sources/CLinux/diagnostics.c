#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// TCP_ESTABLISHED of the kernel, which counts the states of all families alike.
#define ESTABLISHED 1
// The index of the send buffer's size in UNIX_DIAG_MEMINFO: SK_MEMINFO_SNDBUF.
#define SEND_BUFFER 3

struct request {
    struct nlmsghdr header;
    struct unix_diag_req body;
};

static void read_attribute(const struct rtattr *attribute, struct linux_unix_socket *found)
{
    const void *value = RTA_DATA(attribute);
    size_t length = RTA_PAYLOAD(attribute);
    if (attribute->rta_type == UNIX_DIAG_NAME) {
        found->name_length = length < sizeof found->name ? length : sizeof found->name;
        memcpy(found->name, value, found->name_length);
    } else if (attribute->rta_type == UNIX_DIAG_PEER && length >= sizeof found->peer) {
        memcpy(&found->peer, value, sizeof found->peer);
    } else if (attribute->rta_type == UNIX_DIAG_RQLEN && length >= sizeof(struct unix_diag_rqlen)) {
        struct unix_diag_rqlen queues;
        memcpy(&queues, value, sizeof queues);
        found->unread = queues.udiag_wqueue;
    } else if (attribute->rta_type == UNIX_DIAG_MEMINFO && length >= (SEND_BUFFER + 1) * sizeof(uint32_t)) {
        memcpy(&found->buffer, (const char *)value + SEND_BUFFER * sizeof(uint32_t), sizeof found->buffer);
    }
}

static void read_socket(const struct nlmsghdr *header, struct linux_unix_socket *found)
{
    const struct unix_diag_msg *message = NLMSG_DATA(header);
    *found = (struct linux_unix_socket){.inode = message->udiag_ino};
    unsigned int length = header->nlmsg_len - NLMSG_LENGTH(sizeof *message);
    for (const struct rtattr *each = (const void *)(message + 1); RTA_OK(each, length); each = RTA_NEXT(each, length))
        read_attribute(each, found);
}

// Adds the sockets of one answer to `count`. 1 if more answers follow, 0 after the last one, or a negated errno.
static int read_answer(const void *answer, size_t length, struct linux_unix_socket *sockets, size_t capacity, size_t *count)
{
    int more = 0;
    for (const struct nlmsghdr *each = answer; NLMSG_OK(each, length); each = NLMSG_NEXT(each, length)) {
        if (each->nlmsg_type == NLMSG_DONE)
            return 0;
        if (each->nlmsg_type == NLMSG_ERROR)
            return ((const struct nlmsgerr *)NLMSG_DATA(each))->error;
        if (each->nlmsg_type != SOCK_DIAG_BY_FAMILY || each->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
            continue;
        if (*count < capacity)
            read_socket(each, &sockets[*count]);
        (*count)++;
        more = (each->nlmsg_flags & NLM_F_MULTI) != 0;
    }
    return more;
}

static ssize_t ask(int netlink, uint32_t inode, struct linux_unix_socket *sockets, size_t capacity)
{
    struct request request = {
        .header = {
            .nlmsg_len = sizeof request,
            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
            .nlmsg_flags = NLM_F_REQUEST | (inode == 0 ? NLM_F_DUMP : 0),
        },
        .body = {
            .sdiag_family = AF_UNIX,
            .udiag_states = 1U << ESTABLISHED,
            .udiag_ino = inode,
            .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN | UDIAG_SHOW_MEMINFO,
            .udiag_cookie = {-1U, -1U},
        },
    };
    if (send(netlink, &request, sizeof request, 0) < 0)
        return -errno;
    size_t count = 0;
    int more = 1;
    while (more > 0) {
        _Alignas(struct nlmsghdr) char answer[32768];
        ssize_t length = recv(netlink, answer, sizeof answer, 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return -errno;
        more = read_answer(answer, (size_t)length, sockets, capacity, &count);
    }
    return more < 0 ? more : (ssize_t)count;
}

ssize_t linux_read_unix_sockets(uint32_t inode, struct linux_unix_socket *sockets, size_t capacity)
{
    // The kernel answers while the request is sent and the answers are received: there is nothing to wait for.
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (netlink < 0)
        return -errno;
    ssize_t result = ask(netlink, inode, sockets, capacity);
    close(netlink);
    return result;
}

int linux_pidfd_getfd(int pidfd, int number)
{
    long descriptor = syscall(SYS_pidfd_getfd, pidfd, number, 0U);
    return descriptor < 0 ? -errno : (int)descriptor;
}

int linux_stat_file(int descriptor, const char *path, struct linux_file *file)
{
    struct statx status;
    int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    if (statx(descriptor, path, flags, STATX_BASIC_STATS | STATX_MNT_ID, &status) != 0)
        return -errno;
    *file = (struct linux_file){
        .inode = status.stx_ino,
        .mount = status.stx_mask & STATX_MNT_ID ? status.stx_mnt_id : 0,
        .user = status.stx_uid,
        .group = status.stx_gid,
        .mode = status.stx_mode,
        .device_major = status.stx_dev_major,
        .device_minor = status.stx_dev_minor,
    };
    return 0;
}
