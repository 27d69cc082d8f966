import Glibc
import Testing

@testable import Processes

/// The controllers that a group below this process's own would have.
private let delegated: [String] = {
    let group = try? Cgroup.ofThisProcess()
    let text = group.flatMap { try? ProcFile.read("\($0.path)/cgroup.subtree_control", limit: 4096) }
    return String(decoding: text ?? [], as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(String.init)
}()

@Suite(.needsCgroups) struct CgroupControllerTests {
    /// A subtree of its own below this process's group, removed afterwards.
    private static func withSubtree(isUnit: Bool, _ body: (CgroupSubtree, Cgroup) throws -> Void) throws {
        let here = try #require(try Cgroup.ofThisProcess())
        let base = here.child("lifed-test-controllers-\(getpid())")
        try base.create()
        defer { base.remove() }
        try body(try CgroupSubtree(base: base, origin: isUnit ? nil : here), base)
    }

    @Test func aUnitThatCouldNotBeStartedAgainGetsNone() async {
        await #expect(processExitsWith: .success) {
            try Self.withSubtree(isUnit: true) { subtree, base in
                #expect(throws: FeatureUnavailable.self) {
                    try subtree.enableControllers(isClearedAfterCrash: false)
                }
                let enabled = try subtree.enableControllers(isClearedAfterCrash: true)
                #expect(enabled == Set(CgroupSubtree.Controller.allCases.filter { delegated.contains($0.rawValue) }))
            }
            try Self.withSubtree(isUnit: false) { subtree, _ in
                _ = try subtree.enableControllers(isClearedAfterCrash: false)
            }
        }
    }
}
