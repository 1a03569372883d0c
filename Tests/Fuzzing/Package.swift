// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

// Each fuzzer, and the target that it fuzzes. HeartwoodFileReading and HeartwoodSQLiteFile are products only with HEARTWOOD_SUITE=fuzzing.
let fuzzers = [
    "RecordLogFuzzer": "RecordLog", "ModelCacheFuzzer": "HeartwoodFileReading", "SQLiteFileFuzzer": "HeartwoodSQLiteFile", "CoreDataStoreFuzzer": "Heartwood",
]

// A package of its own: everything in it, the engine included, is built with libFuzzer's instrumentation. See docs/testing.md.
let package = Package(
    name: "heartwood-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "heartwood", path: "../..")],
    targets: [.target(name: "FuzzerRun", swiftSettings: strict)] + fuzzers.sorted { $0.key < $1.key }.map { fuzzer, target in
        .executableTarget(
            name: fuzzer, dependencies: ["FuzzerRun", .product(name: target, package: "heartwood")], swiftSettings: strict)
    }
)
