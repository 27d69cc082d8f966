// swift-tools-version: 6.2
import PackageDescription

// The parsers under libFuzzer. A package of its own, so that building lifed neither needs nor notices it; its modules are
// lifed's own sources, compiled again with the sanitizers: see scripts/fuzz, which is the way to build and run this.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
let strictOnMainActor = strict + [.defaultIsolation(MainActor.self)]

/// A module of lifed.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], swift: [SwiftSetting] = strict,
    linker: [LinkerSetting] = [], exclude: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Modules/\(name)", exclude: exclude, swiftSettings: swift,
        linkerSettings: linker)
}

let package = Package(
    name: "lifed-fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        module("LifecycleTypes"),
        module(
            "LifecycleCore",
            [
                "LifecycleTypes",
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ]),
        module("CLinux"),
        module("Processes", ["CLinux"]),
        module("CSystemd", linker: [.linkedLibrary("systemd")]),
        module("Systemd", ["CLinux", "CSystemd"], swift: strictOnMainActor),
        module("Varlink", ["CLinux"]),
        module(
            "ControlAPI", ["CLinux", "LifecycleTypes", "Varlink"],
            exclude: ["io.systemd.Metrics.varlink", "org.lifed.varlink"]),
        module("AppChannel", ["LifecycleTypes"]),
        module("CAppClient"),
        module("LifecycleClient", ["AppChannel", "CAppClient", "LifecycleTypes"]),
        module("Configuration", ["LifecycleTypes"]),
        module(
            "LifecycleDaemon",
            [
                "LifecycleCore", "CLinux", "Processes", "Systemd", "Varlink", "ControlAPI", "Configuration",
                "AppChannel", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ], swift: strictOnMainActor),
        module("CommandLineTable", ["LifecycleTypes"]),
        module("CWayland", linker: [.linkedLibrary("wayland-client")]),
        module("CXCB", linker: [.linkedLibrary("xcb"), .linkedLibrary("xcb-res")]),
        module(
            "Desktop", ["CLinux", "CWayland", "CXCB", "ControlAPI", "LifecycleTypes", "Systemd", "Varlink"]),
        // What lifectl reads, without its main function.
        .target(
            name: "lifectl",
            dependencies: ["CLinux", "CommandLineTable", "ControlAPI", "LifecycleTypes", "Varlink"],
            path: "Modules/lifectl", exclude: ["main.swift", "Output/org.lifed.lifectl.varlink"], swiftSettings: strict),

        .target(
            name: "FuzzTargets",
            dependencies: [
                "LifecycleTypes", "LifecycleCore", "Processes", "Varlink", "ControlAPI", "AppChannel",
                "LifecycleClient",
                "Configuration", "LifecycleDaemon", "Desktop", "EmbeddedCodec", "lifectl",
            ],
            path: "Targets", exclude: ["Files/globs2"], swiftSettings: strictOnMainActor
        ),
        // The app protocol's codec as the C library has it; scripts/fuzz compiles it, as Embedded Swift, and links it in.
        .target(name: "EmbeddedCodec", path: "EmbeddedCodec", exclude: ["Codec.swift"]),
        // libFuzzer brings the main function, which an executable of Swift files would bring as well.
        .executableTarget(name: "lifed-fuzz", dependencies: ["FuzzTargets"], path: "Driver"),
    ],
    cLanguageStandard: .gnu17
)
