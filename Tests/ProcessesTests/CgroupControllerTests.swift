import Glibc
import Testing

@testable import Processes

/// The controllers that a group below this process's own would have.
private let delegated: [String] = {
    let text = Cgroup.ofThisProcess().flatMap { ProcFile.read("\($0.path)/cgroup.subtree_control", limit: 4096) }
    return String(decoding: text ?? [], as: UTF8.self).split { $0 == " " || $0 == "\n" }.map(String.init)
}()

@Suite(.needsCgroups) struct CgroupControllerTests {
    /// A subtree of its own below this process's group, removed afterwards.
    private static func withSubtree(isUnit: Bool, _ body: (CgroupSubtree, Cgroup) throws -> Void) throws {
        let here = try #require(Cgroup.ofThisProcess())
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

    /// This is what keeps systemd from starting a service again, and what helps.
    @Test(.enabled(if: !delegated.isEmpty, "no controllers are delegated to this process"))
    func clearedControllersLeaveRoomForTheNextMainProcess() async {
        await #expect(processExitsWith: .success) {
            try Self.withSubtree(isUnit: true) { subtree, base in
                let here = try #require(Cgroup.ofThisProcess())
                let app = try subtree.makeGroup(for: "a")
                let table = ProcessTable()
                let survivor = try table.launch(SpawnRequest(program: "/bin/sleep", arguments: ["1000"]))
                defer { survivor.kill() }
                try app.write("\(survivor.main.pid)", to: "cgroup.procs")
                let controller = try #require(delegated.first)
                for group in [base, subtree.apps] { try group.write("+\(controller)", to: "cgroup.subtree_control") }

                let refusal = #expect(throws: Errno.self) { try base.write("0", to: "cgroup.procs") }
                #expect(refusal?.rawValue == EBUSY)
                try CgroupSubtree.clearControllers(of: base)
                try base.write("0", to: "cgroup.procs")
                try here.write("0", to: "cgroup.procs")
                #expect(app.processIDs() == [survivor.main.pid])

                survivor.kill()
                while !survivor.isEmpty { _ = table.reap() }
            }
        }
    }

    @Test func clearingElsewhereDoesNothing() throws {
        try CgroupSubtree.clearControllers()
    }
}
