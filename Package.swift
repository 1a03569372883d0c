// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "heartwood",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Heartwood", targets: ["Heartwood"]),
        .library(name: "RecordLog", targets: ["RecordLog"]),
    ],
    targets: [
        .target(name: "RecordLog", swiftSettings: strict),
        .target(name: "Heartwood", dependencies: ["RecordLog"], swiftSettings: strict),
        .testTarget(name: "RecordLogTests", dependencies: ["RecordLog"], swiftSettings: strict),
        .testTarget(name: "HeartwoodTests", dependencies: ["Heartwood"], swiftSettings: strict),
    ]
)
