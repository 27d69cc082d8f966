// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "service-lifecycle",
    dependencies: [
        .package(name: "lifed", path: "../.."),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "ServiceApp",
            dependencies: [
                .product(name: "Lifecycle", package: "lifed"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        )
    ]
)
