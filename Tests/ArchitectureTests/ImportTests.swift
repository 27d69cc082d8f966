import Testing

/// Holds the sources to the directions that docs/ARCHITECTURE.md draws.
@Suite struct ImportTests {
    /// What each target may import, of ours and of others.
    static let allowed: [String: Set<String>] = [
        "LifecycleTypes": [],
        "LifecycleCore": ["LifecycleTypes", "OrderedCollections", "HeapModule"],
        "AppChannel": ["LifecycleTypes"],
        "LifecycleClient": ["LifecycleTypes", "AppChannel", "CLifecycle"],
        "Lifecycle": ["LifecycleTypes", "AppChannel", "LifecycleClient", "CMainQueue", "Dispatch", "Glibc"],
        "LifecycleServiceAdapter": ["Lifecycle", "ServiceLifecycle"],
        "LifecycleC": ["LifecycleTypes", "AppChannel", "LifecycleClient", "CLifecycle", "LifecycleHeader"],
        "Processes": ["CLinux", "Synchronization"],
        "Systemd": ["CSystemd", "Glibc"],
        "Varlink": ["CLinux"],
        "ControlAPI": ["CLinux", "LifecycleTypes", "Varlink"],
        "Calendar": [],
        "Configuration": ["Calendar", "Glibc"],
        "LifecycleDaemon": [
            "LifecycleTypes", "LifecycleCore", "CLinux", "Processes", "Systemd", "Varlink", "ControlAPI",
            "Configuration", "AppChannel", "Calendar", "Glibc",
        ],
        "CommandLineTable": [],
        "lifed": ["LifecycleDaemon", "CommandLineTable", "ControlAPI", "Glibc"],
        "lifectl": ["LifecycleTypes", "CommandLineTable", "ControlAPI", "Varlink", "WindowLines", "CLinux"],
        "WindowLines": [],
        "Follow": ["CWayland", "CXCB", "Systemd", "WindowLines", "Glibc"],
    ]

    /// Words that the core must not know: it has no clock, no chance, no input and no output.
    static let strangeToTheCore: Set<String> = [
        "ContinuousClock", "SuspendingClock", "clock_gettime", "Date", "Task", "async", "await", "random",
        "randomElement", "shuffle", "shuffled", "SystemRandomNumberGenerator", "print", "debugPrint", "getenv",
    ]

    @Test(arguments: allowed.keys.sorted())
    func `imports follow the arrows`(target: String) throws {
        let allowed = try #require(Self.allowed[target])
        let files = try SourceTree.swiftFiles(of: target)
        #expect(!files.isEmpty, "there are no sources in \(target)")
        for file in files {
            for module in file.imports where !allowed.contains(module) {
                Issue.record("\(file.path) imports \(module)")
            }
        }
    }

    @Test func `every target with Swift sources has its arrows`() throws {
        for target in try SourceTree.targets() where try !SourceTree.swiftFiles(of: target).isEmpty {
            #expect(Self.allowed[target] != nil, "\(target) is not in the table")
        }
    }

    @Test func `the core knows no clock, no chance and no world`() throws {
        for file in try SourceTree.swiftFiles(of: "LifecycleCore") {
            for line in file.code {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
                for word in words where Self.strangeToTheCore.contains(word) {
                    Issue.record("\(file.path): \(word) in \(line)")
                }
            }
        }
    }

    @Test func `the main program is small`() throws {
        let lines = try SourceTree.swiftFiles(of: "lifed").reduce(0) { $0 + $1.lines.count }
        #expect(lines < 100, "lifed has \(lines) lines")
    }
}
