// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "heartwood-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "heartwood", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "heartwood-benchmarks",
            dependencies: [
                "CSQLite", .product(name: "Heartwood", package: "heartwood"), .product(name: "RecordLog", package: "heartwood"),
                // The command, which generates a model's classes.
                .product(name: "heartwood", package: "heartwood"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SwiftData", package: "heartwood"),
            ],
            path: "Sources/HeartwoodBenchmarks", exclude: ["Accessors/Counters.xcdatamodeld"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "HeartwoodModels", package: "heartwood")]),
        // What the script `instructions` counts.
        .executableTarget(
            name: "heartwood-instructions",
            dependencies: [.product(name: "Heartwood", package: "heartwood"), .product(name: "SwiftData", package: "heartwood")],
            path: "Sources/HeartwoodInstructions",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
