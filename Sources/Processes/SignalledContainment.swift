/// A boundary without a cgroup: nothing but signals holds what is inside, and nothing tells when the last of it has ended.
protocol SignalledContainment: Containment {}

extension SignalledContainment {
    var kind: ContainmentKind { .processGroup }
    var changeDescriptor: Int32? { nil }
    func acknowledgeChange() -> Bool { false }
    func freeze() -> Bool { false }
    func thaw() {}
    var isFrozen: Bool { false }
    func discard() {}
}
