extension Settings {
    /// When memory is short, and what then happens.
    public struct Memory: Hashable, Sendable {
        /// The share of the window in which some process waited for memory from which on apps are warned, in percent.
        public var warning = 10

        /// The share of the window in which all processes that could have run waited, and nothing was done, from which on
        /// apps are ended, in percent.
        public var critical = 30

        /// The window of both shares: from 500 ms to 10 s. Without privileges the kernel takes multiples of 2 s only.
        public var window = Duration.seconds(2)

        /// The available memory of the machine below which apps are ended, whatever the pressure, in bytes; 0 for none.
        public var floor = 64 << 20

        /// The share of the machine's memory, in percent: apps are ended when less is available, free swap space included.
        /// 0 for none.
        public var reserve = 8

        /// How many apps may be suspended at the same time; 0 for any number.
        public var suspendedLimit = 0

        /// Whether the memory of apps is given back while they are suspended.
        public var reclaimWhenSuspended = false

        /// The defaults.
        public init() {}
    }
}
