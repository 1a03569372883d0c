// swift-tools-version: 6.2
import PackageDescription

// A package of its own: everything in it, the engine included, is built with libFuzzer's instrumentation. See docs/testing.md.
let package = Package(
    name: "heartwood-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "heartwood", path: "../..")],
    targets: [
        .executableTarget(
            name: "RecordLogFuzzer",
            dependencies: [.product(name: "RecordLog", package: "heartwood")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        // The sources of the target FileReading, which is no product. Sources/FileReading here is a link to them.
        .target(name: "FuzzedFileReading", path: "Sources/FileReading", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "ModelCacheFuzzer", dependencies: ["FuzzedFileReading"], swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "SQLiteFileFuzzer",
            dependencies: [.product(name: "SQLiteFile", package: "heartwood")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
