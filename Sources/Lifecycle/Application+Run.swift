internal import CMainQueue
internal import Dispatch
internal import Glibc
internal import LifecycleClient

extension Application {
    /// Gives the main thread to the app, for good: tells the delegate what there is to tell, and does the work of the main
    /// actor and of the main dispatch queue meanwhile.
    ///
    /// For a `main` that is not `async`. A process that cannot have the few descriptors needed says so and exits.
    @available(*, noasync, message: "await the method of the same name")
    public func run(delegate: any ApplicationDelegate) -> Never {
        do throws(ApplicationError) {
            try start(delegate: delegate)
        } catch {
            let message = Array("\(error.description)\n".utf8)
            _ = unsafe write(STDERR_FILENO, message, message.count)
            exit(EXIT_FAILURE)
        }
        var items = [
            pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: lifecycle_main_queue_descriptor(), events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // The delegate may have given the life cycle up, and what is not there is left out: it would be ready all the time.
            items[0].fd = client?.fileDescriptor ?? -1
            guard unsafe poll(&items, nfds_t(items.count), -1) > 0 else { continue }
            if items[0].revents != 0 { dispatch() }
            if items[1].revents != 0 { lifecycle_main_queue_drain() }
        }
    }

    /// Tells the delegate what there is to tell, until the task is cancelled or the app gives its life cycle up
    /// with `stop()`. Either way it is given up when this returns.
    ///
    /// Throws an `ApplicationError` like `start(delegate:termination:)`.
    public func run(delegate: (any ApplicationDelegate)? = nil, termination: Termination = .exits)
        async throws(ApplicationError)
    {
        try start(delegate: delegate, termination: termination)
        let client = client
        let (life, end) = AsyncStream.makeStream(of: Never.self)
        finishWhenStopped(end)
        let source = DispatchSource.makeReadSource(fileDescriptor: fileDescriptor, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { Application.shared.dispatch() } }
        source.activate()
        await untilEnded(life, end)
        // The descriptor may be closed only when the source has let go of it, and so the client is kept until then.
        await withCheckedContinuation { continuation in
            source.setCancelHandler { continuation.resume() }
            source.cancel()
        }
        // Whoever has stopped the app may have started it anew.
        if self.client === client { stop() }
    }

    private nonisolated func untilEnded(_ life: AsyncStream<Never>, _ end: AsyncStream<Never>.Continuation) async {
        await withTaskCancellationHandler {
            for await _ in life {}
        } onCancel: {
            end.finish()
        }
    }
}
