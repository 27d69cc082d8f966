internal import CLifecycle

/// One descriptor that stands for several: an epoll instance.
struct Poller: ~Copyable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = lifecycle_poller_create()
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        lifecycle_close_descriptor(descriptor)
    }

    func watch(_ watched: Int32) throws(SystemError) {
        guard lifecycle_poller_add(descriptor, watched) == 0 else { throw .last }
    }

    func wantOutput(_ wanted: Bool, of watched: Int32) {
        // Fails only for a descriptor that is not watched.
        _ = lifecycle_poller_want_output(descriptor, watched, wanted)
    }

    func forget(_ watched: Int32) {
        lifecycle_poller_remove(descriptor, watched)
    }
}

/// Makes a poller readable from anywhere, from a signal handler too: an eventfd.
struct Waker: ~Copyable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = lifecycle_waker_create()
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        lifecycle_close_descriptor(descriptor)
    }

    func wake() {
        lifecycle_wake(descriptor)
    }

    func reset() {
        lifecycle_waker_reset(descriptor)
    }
}
