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
        .executableTarget(
            name: "SQLiteFileFuzzer",
            dependencies: [.product(name: "SQLiteFile", package: "heartwood")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
