#if ServiceLifecycle
    public import Lifecycle
    public import ServiceLifecycle

    /// A service that runs the life cycle of the app in a `ServiceGroup`, until the group shuts down.
    ///
    /// The group handles SIGTERM, by its `gracefulShutdownSignals`, and so the library does not. The app's end is the end of
    /// the group: the delegate's `applicationWillTerminate(_:)` is not called.
    ///
    /// ```swift
    /// let group = ServiceGroup(
    ///     services: [LifecycleService(), worker], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// try await group.run()
    /// ```
    public struct LifecycleService: Service {
        private let delegate: (any LifecycleDelegate & Sendable)?
        private let options: LifecycleApplication.Options

        /// Creates the service.
        ///
        /// - Parameters:
        ///   - delegate: The delegate of the app, if any; the other services can follow `LifecycleApplication.shared.events`.
        ///   - options: The changes that the library makes to the process. `handlesSIGTERM` would take SIGTERM from the group.
        public init(
            delegate: (any LifecycleDelegate & Sendable)? = nil, options: LifecycleApplication.Options = []
        ) {
            self.delegate = delegate
            self.options = options
        }

        /// Runs the life cycle until the group shuts down or cancels the service.
        ///
        /// - Throws: `LifecycleError` if the life cycle was started before, or the system has no descriptors left.
        public func run() async throws {
            try await cancelWhenGracefulShutdown {
                try await LifecycleApplication.shared.run(delegate: delegate, options: options)
            }
        }
    }
#endif
