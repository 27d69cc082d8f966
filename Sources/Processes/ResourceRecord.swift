/// What a ``ResourceControl`` has done to a tree, and what the processes had before.
public struct ResourceRecord: Hashable, Sendable {
    var profile = ResourceProfile()
    /// Whether the attributes of the cgroup are those of the profile.
    var areAttributesKnown = true
    /// What could not be set for every process: a process that has just executed a program may not be changed for a moment.
    var incomplete: Set<ResourceSetting> = []
    var ownValues: [ResourceSetting: OwnValues] = [:]

    /// A tree to which nothing was done.
    init() {}
}
