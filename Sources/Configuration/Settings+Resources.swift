extension Settings {
    /// What the processes of an app get in each state.
    public struct Resources: Hashable, Sendable {
        /// In front and in use.
        public var active = State()

        /// In front, on its way.
        public var inactive: State = {
            var state = State()
            state.oomScoreAdjustment = 100
            return state
        }()

        /// Running out of sight.
        public var background: State = .outOfSight(oomScoreAdjustment: 300)

        /// Stopped. What the kernel gives to running processes is that of the background, so that nothing needs to be
        /// written for it.
        public var suspended: State = .outOfSight(oomScoreAdjustment: 600)

        /// The defaults.
        public init() {}
    }
}

extension Settings.Resources {
    /// What the processes of an app get in one state; nil for what each has of its own.
    public struct State: Hashable, Sendable {
        /// `cpu.weight`, 1 to 10000, where 100 is the default of the kernel.
        public var cpuWeight: Int?

        /// `io.weight`, 1 to 10000, where 100 is the default of the kernel.
        public var ioWeight: Int?

        /// `memory.low`, in bytes: what is left to the app as long as memory can be had from others.
        public var memoryLow: Int?

        /// Added to the nice value of each thread, -20 to 19, where the processor's time cannot be weighted.
        public var nice: Int?

        /// The I/O priority, where I/O cannot be weighted.
        public var ioPriority: IOPriority?

        /// `oom_score_adj`, -1000 to 1000; 0 and more are for raising, what is below 0 for lowering it.
        public var oomScoreAdjustment: Int?

        /// How late timers may be, so that they can be put together.
        public var timerSlack: Duration?

        /// Everything as it is.
        public init() {}

        fileprivate static func outOfSight(oomScoreAdjustment: Int) -> State {
            var state = State()
            state.cpuWeight = 20
            state.ioWeight = 20
            state.nice = 10
            state.ioPriority = .bestEffort(7)
            state.oomScoreAdjustment = oomScoreAdjustment
            state.timerSlack = .milliseconds(50)
            return state
        }
    }

    /// The classes of ioprio_set(2), with their levels, of which 0 comes first and 7 last.
    public enum IOPriority: Hashable, Sendable {
        case realTime(Int)
        case bestEffort(Int)
        case idle
    }
}
