extension RunningProcess {
    /// The variable with which dbus-daemon starts a program: the address of the bus.
    private static let starterVariable = "DBUS_STARTER_ADDRESS="
    /// dbus-daemon keeps a copy of itself between it and a program, until the program owns its name.
    private static let generations = 2

    /// Returns a Boolean value that indicates whether dbus-daemon has launched a process.
    ///
    /// The process has the variable of the bus, is in the unit of the bus, and is a child of no other program in there. The first
    /// of these is the process's own word.
    public static func has(busDaemon bus: ProcessID, launched process: ProcessID) -> Bool {
        guard let ancestors = ancestors(of: process), let unit = unit(of: bus), unit == self.unit(of: process),
            let environment = LaunchMark.environment(of: process),
            environment.split(separator: 0).contains(where: { $0.starts(with: starterVariable.utf8) })
        else { return false }
        guard let parent = ancestors.first, !ancestors.prefix(generations).contains(bus) else { return true }
        // The user's service manager becomes the parent of orphans.
        return self.unit(of: parent) != unit
    }
}
