// swift-tools-version: 6.2
import PackageDescription

/// Every target is held to the same rules: warnings are errors, memory safety and concurrency are strict.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The daemon is one thread: everything that touches its loop lives on the main actor.
let strictOnMainActor = strict + [.defaultIsolation(MainActor.self)]

let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]

let package = Package(
    name: "lifed",
    products: [
        .executable(name: "lifed", targets: ["lifed"]),
        .executable(name: "lifectl", targets: ["lifectl"]),
        .executable(name: "lifed-desktop", targets: ["lifed-desktop"]),
        .executable(name: "lifed-keeper", targets: ["Keeper"]),
        .library(name: "Lifecycle", targets: ["Lifecycle"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        // The words that the core, the programs and the documents share.
        .target(name: "LifecycleTypes", swiftSettings: strict),

        // Whether: the pure state machine.
        .target(
            name: "LifecycleCore",
            dependencies: [
                "LifecycleTypes",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: strict
        ),

        // How: processes, signals, the kernel.
        .target(name: "CLinux", cSettings: strictC),
        .target(name: "Processes", dependencies: ["CLinux"], swiftSettings: strict),
        // The parent of an app without a control group. `make` links it without the Swift runtime.
        .executableTarget(name: "Keeper", dependencies: ["CLinux"], cSettings: strictC),

        // libsystemd: the event loop, the journal, notifications, passed sockets.
        .target(name: "CSystemd", cSettings: strictC, linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "Systemd", dependencies: ["CLinux", "CSystemd"], swiftSettings: strictOnMainActor),

        // The control protocol, and the interface spoken over it.
        .target(name: "Varlink", dependencies: ["CLinux"], swiftSettings: strict),
        .target(
            name: "ControlAPI", dependencies: ["LifecycleTypes", "Varlink"],
            exclude: ["io.systemd.Metrics.varlink", "org.lifed.varlink"], swiftSettings: strict),

        // The line protocol between the daemon and an app, and an app's side of it. The first three are also compiled as
        // Embedded Swift, with Sources/LifecycleC, into the C library: scripts/build-liblifecycle.
        .target(name: "AppChannel", dependencies: ["LifecycleTypes"], swiftSettings: strict),
        .target(name: "CAppClient", cSettings: strictC),
        .target(
            name: "LifecycleClient", dependencies: ["AppChannel", "CAppClient", "LifecycleTypes"], swiftSettings: strict
        ),
        .target(
            name: "Lifecycle",
            dependencies: ["AppChannel", "CAppClient", "LifecycleClient", "LifecycleTypes"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SampleApp", dependencies: ["Lifecycle"], path: "Examples/swift-app", swiftSettings: strict
        ),

        .executableTarget(
            name: "ScenesApp", dependencies: ["Lifecycle"], path: "Examples/swift-scenes", swiftSettings: strict
        ),

        // Files that users write.
        .target(
            name: "Configuration",
            dependencies: ["LifecycleTypes"],
            swiftSettings: strict
        ),

        .target(
            name: "LifecycleDaemon",
            dependencies: [
                "LifecycleCore", "CLinux", "Processes", "Systemd", "Varlink", "ControlAPI", "Configuration",
                "AppChannel", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: strictOnMainActor
        ),
        // The words of a command line, for both programs.
        .target(name: "CommandLineTable", dependencies: ["LifecycleTypes"], swiftSettings: strict),
        .executableTarget(
            name: "lifed",
            dependencies: ["CommandLineTable", "ControlAPI", "LifecycleDaemon"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "lifectl",
            dependencies: [
                "CLinux", "CommandLineTable", "ControlAPI", "LifecycleTypes", "Varlink",
            ],
            exclude: ["Output/org.lifed.lifectl.varlink"], swiftSettings: strict
        ),

        // The user's session, for a program of its own: it is linked to the libraries of the screen.
        .target(name: "CXCB", cSettings: strictC, linkerSettings: [.linkedLibrary("xcb"), .linkedLibrary("xcb-res")]),
        .target(name: "CWayland", cSettings: strictC, linkerSettings: [.linkedLibrary("wayland-client")]),
        .target(
            name: "Desktop",
            dependencies: ["CLinux", "CWayland", "CXCB", "ControlAPI", "LifecycleTypes", "Systemd", "Varlink"],
            swiftSettings: strict),
        .executableTarget(
            name: "lifed-desktop", dependencies: ["CommandLineTable", "ControlAPI", "Desktop"], swiftSettings: strict),

        // What several test targets use.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        // A whole machine around the core, for `make simulate` and `make explore`.
        .target(
            name: "Simulation", dependencies: ["LifecycleCore", "TestSupport"], path: "Tests/Simulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: strict),
        .testTarget(
            name: "LifecycleCoreTests", dependencies: ["LifecycleCore", "Simulation", "TestSupport"],
            exclude: ["Transcripts"], swiftSettings: strict),
        .executableTarget(
            name: "ProcessFixture", dependencies: ["CLinux"], path: "Tests/ProcessFixture", cSettings: strictC
        ),
        .testTarget(
            name: "ProcessesTests", dependencies: ["Keeper", "Processes", "ProcessFixture", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "SystemdTests", dependencies: ["Systemd", "TestSupport"], swiftSettings: strictOnMainActor),
        .testTarget(
            name: "VarlinkTests", dependencies: ["TestSupport", "Varlink"], exclude: ["JSONTestSuite"],
            swiftSettings: strict),
        .testTarget(
            name: "AppChannelTests", dependencies: ["AppChannel", "LifecycleTypes", "TestSupport"],
            swiftSettings: strict),
        .executableTarget(
            name: "LifecycleFixture", dependencies: ["Lifecycle"], path: "Tests/LifecycleFixture",
            exclude: ["fork.py", "state.py"], swiftSettings: strictOnMainActor
        ),
        .testTarget(
            name: "LifecycleTests",
            dependencies: [
                "AppChannel", "Lifecycle", "LifecycleClient", "LifecycleFixture", "LifecycleTypes", "SampleApp",
                "ScenesApp", "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ControlAPITests", dependencies: ["ControlAPI", "LifecycleTypes", "TestSupport", "Varlink"],
            swiftSettings: strict),
        .testTarget(
            name: "LifectlTests",
            dependencies: [
                "lifectl", "CommandLineTable", "ControlAPI", "LifecycleTypes", "TestSupport", "Varlink",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DesktopTests",
            dependencies: ["ControlAPI", "Desktop", "LifecycleTypes", "Systemd", "TestSupport", "Varlink"],
            swiftSettings: strict),
        .testTarget(
            name: "LifedTests", dependencies: ["lifed", "CommandLineTable", "LifecycleDaemon"],
            swiftSettings: strict),
        .testTarget(
            name: "ConfigurationTests", dependencies: ["Configuration", "LifecycleTypes", "TestSupport"],
            exclude: ["toml-test"],
            swiftSettings: strict),
        .testTarget(
            name: "LifecycleDaemonTests",
            dependencies: [
                "LifecycleDaemon", "LifecycleCore", "Processes", "Configuration", "ControlAPI", "Systemd", "AppChannel",
                "Simulation", "TestSupport", "Varlink",
            ],
            swiftSettings: strictOnMainActor
        ),
        .executableTarget(
            name: "MachineFixture", dependencies: ["LifecycleDaemon", "Systemd"], path: "Tests/MachineFixture",
            swiftSettings: strictOnMainActor
        ),
        .testTarget(
            name: "ArchitectureTests", dependencies: ["AppChannel", "LifecycleCore", "LifecycleTypes"],
            swiftSettings: strict),
    ],
    cLanguageStandard: .gnu17
)
