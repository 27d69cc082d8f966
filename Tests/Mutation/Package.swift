// swift-tools-version: 6.2
import PackageDescription

// The core with its mutants, the core's tests, and the simulation. scripts/mutate copies this to .build-mutate, puts the rewritten sources
// beside it, and is the way to build and run it.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "mutation",
    dependencies: [.package(url: "https://github.com/apple/swift-collections", from: "1.6.0")],
    targets: [
        .target(name: "LifecycleTypes", swiftSettings: settings),
        .target(
            name: "LifecycleCore",
            dependencies: [
                "LifecycleTypes",
                .product(name: "OrderedCollections", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "Simulation", dependencies: ["LifecycleCore", "TestSupport"], path: "Tests/Simulation",
            swiftSettings: settings),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: settings),
        .testTarget(
            name: "LifecycleCoreTests", dependencies: ["LifecycleCore", "Simulation", "TestSupport"],
            exclude: ["Transcripts"], swiftSettings: settings),
        // The state graphs, as the documentation draws them.
        .testTarget(
            name: "ArchitectureTests", dependencies: ["LifecycleCore"],
            sources: ["DiagramTests.swift", "SourceTree.swift"], swiftSettings: settings),
    ]
)
