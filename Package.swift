// swift-tools-version: 6.2
import CompilerPluginSupport
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
        .library(name: "Heartwood", targets: ["Heartwood", "HeartwoodPostgreSQL", "HeartwoodSQLite"]),
        // With the target that it exports again: SwiftPM compiles clients anew where a module changes that they name here, and not behind it.
        .library(name: "CoreData", targets: ["CoreData", "Heartwood", "HeartwoodPostgreSQL", "HeartwoodSQLite"]),
        .library(name: "SwiftData", targets: ["SwiftData", "HeartwoodSwiftData", "Heartwood", "HeartwoodPostgreSQL", "HeartwoodSQLite"]),
        // The module Heartwood for programs that want nothing of SQLite.
        .library(name: "HeartwoodCore", targets: ["Heartwood"]),
        .library(name: "RecordLog", targets: ["RecordLog"]),
        // With the target of the store that has the rows.
        .library(name: "RecordLogRows", targets: ["RecordLogRows", "RecordLog"]),
        .library(name: "HeartwoodS3", targets: ["HeartwoodS3"]),
        .executable(name: "heartwood", targets: ["heartwood-tool"]),
        .executable(name: "heartwood-s3", targets: ["heartwood-s3"]),
        .plugin(name: "HeartwoodModels", targets: ["HeartwoodModels"]),
    ],
    // A program and all packages that it uses share one set of target names, so each name that others could give has the product's before it.
    targets: [
        // The C library, for which each platform has a name of its own.
        .target(name: "HeartwoodPlatform", swiftSettings: strict),
        .target(name: "RecordLog", dependencies: ["HeartwoodPlatform"], swiftSettings: strict),
        // Rows by column names and Swift types. The stack reads and writes rows without it.
        .target(name: "RecordLogRows", dependencies: ["RecordLog"], swiftSettings: strict),
        // MD5 and SHA-256, and what is made of them.
        .target(name: "HeartwoodDigests", swiftSettings: strict),
        // Backups in an S3-compatible store. Only heartwood-s3 links it, so that no other program has the networking.
        .target(name: "HeartwoodS3", dependencies: ["HeartwoodDigests", "HeartwoodFileReading", "RecordLog"], swiftSettings: strict),
        // The files of another engine, read in place.
        .target(name: "HeartwoodSQLiteFile", dependencies: ["HeartwoodPlatform"], swiftSettings: strict),
        // New files of that engine, made in one pass.
        .target(name: "HeartwoodSQLiteBuilder", dependencies: ["HeartwoodPlatform"], swiftSettings: strict),
        .target(name: "HeartwoodPredicateClasses", swiftSettings: strict),
        // Bytes of files that others have made: UTF-8, XML and property lists.
        .target(name: "HeartwoodFileReading", swiftSettings: strict),
        .target(
            name: "Heartwood",
            dependencies: ["HeartwoodDigests", "HeartwoodFileReading", "HeartwoodPredicateClasses", "RecordLog"],
            swiftSettings: strict),
        // Core Data's own files. The stack finds the store's class by its name, so that a program may do without this target.
        .target(
            name: "HeartwoodSQLite",
            dependencies: ["Heartwood", "HeartwoodFileReading", "HeartwoodSQLiteBuilder", "HeartwoodSQLiteFile", "RecordLog"],
            swiftSettings: strict),
        // A client of PostgreSQL over libpq, which it loads while the program runs.
        .target(name: "HeartwoodPostgreSQLClient", swiftSettings: strict),
        // Stores in a PostgreSQL database. The stack finds the store's class by its name, as that of HeartwoodSQLite.
        .target(
            name: "HeartwoodPostgreSQL", dependencies: ["Heartwood", "HeartwoodDigests", "HeartwoodPostgreSQLClient", "RecordLog"],
            swiftSettings: strict),
        .target(name: "CoreData", dependencies: ["Heartwood"], swiftSettings: strict),
        // SwiftData's interface over the stack.
        .target(name: "HeartwoodSwiftData", dependencies: ["Heartwood", "HeartwoodSwiftDataMacros", "RecordLog"], swiftSettings: strict),
        .target(name: "SwiftData", dependencies: ["Heartwood", "HeartwoodSwiftData"], swiftSettings: strict),
        .target(
            name: "HeartwoodTool",
            dependencies: [
                "HeartwoodFileReading", "Heartwood", "HeartwoodModelCode", "HeartwoodPlatform", "HeartwoodPostgreSQL", "HeartwoodSQLite", "RecordLog",
            ],
            swiftSettings: strict),
        // Apart from its commands, which tests import: what a test depends on is linked as the test's bundle is.
        .executableTarget(name: "heartwood-tool", dependencies: ["HeartwoodTool"], path: "Sources/HeartwoodMain", swiftSettings: strict),
        // The same tool with the networking. The other one starts it where a backup is in a bucket.
        .executableTarget(
            name: "heartwood-s3", dependencies: ["HeartwoodS3", "HeartwoodTool"], path: "Sources/HeartwoodS3Main", swiftSettings: strict),
        // From model files and sources to Swift text. Without the stack: the plugin's executable is to be compiled in seconds.
        .target(
            name: "HeartwoodModelCode", dependencies: ["HeartwoodDigests", "HeartwoodFileReading", "HeartwoodSwiftText"], swiftSettings: strict),
        // Reads Swift sources, for generated code and for macros. Without Foundation: a compiler starts the macros' executable for each of its runs.
        .target(name: "HeartwoodSwiftText", swiftSettings: strict),
        // SwiftData's macros, without swift-syntax.
        .macro(name: "HeartwoodSwiftDataMacros", dependencies: ["HeartwoodSwiftDataExpansions"], swiftSettings: strict),
        // What the macros become, in a library that tests can depend on. If a test depends on the executable, SwiftPM builds all tests of the package
        // as tools.
        .target(name: "HeartwoodSwiftDataExpansions", dependencies: ["HeartwoodPlatform", "HeartwoodSwiftText"], swiftSettings: strict),
        .executableTarget(name: "heartwood-generate", dependencies: ["HeartwoodModelCode"], path: "Sources/HeartwoodGenerate", swiftSettings: strict),
        .plugin(name: "HeartwoodModels", capability: .buildTool(), dependencies: ["heartwood-generate"]),
        .testTarget(name: "FileReadingTests", dependencies: ["HeartwoodFileReading", "HeartwoodTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "ModelCodeTests", dependencies: ["HeartwoodFileReading", "HeartwoodModelCode", "Heartwood", "HeartwoodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SwiftDataMacroTests", dependencies: ["HeartwoodSwiftDataExpansions", "HeartwoodSwiftText"], swiftSettings: strict),
        .testTarget(
            name: "SwiftDataTests", dependencies: ["Heartwood", "HeartwoodSQLite", "HeartwoodSwiftData", "HeartwoodTestSupport", "SwiftData"],
            swiftSettings: strict),
        // Its classes and accessors come from the plugin.
        .testTarget(
            name: "ModelPluginTests", dependencies: ["Heartwood"], exclude: ["Plants.xcdatamodeld"], swiftSettings: strict,
            plugins: ["HeartwoodModels"]),
        // As apps are: with the shim, in Swift's language mode 5, and their warnings are their own.
        .testTarget(
            name: "AppCodeTests", dependencies: ["CoreData", "Heartwood"], exclude: ["Apps.xcdatamodeld", "Introductions.xcdatamodeld"],
            swiftSettings: [.swiftLanguageMode(.v5)], plugins: ["HeartwoodModels"]),
        .testTarget(
            name: "SQLiteFileTests", dependencies: ["HeartwoodSQLiteFile", "HeartwoodTestSupport"], exclude: ["Goldens", "Scripts"],
            swiftSettings: strict),
        .testTarget(
            name: "SQLiteBuilderTests", dependencies: ["HeartwoodSQLiteBuilder", "HeartwoodSQLiteFile", "HeartwoodTestSupport"],
            exclude: ["Scripts"], swiftSettings: strict),
        .testTarget(
            name: "PostgreSQLClientTests", dependencies: ["HeartwoodPostgreSQLClient", "HeartwoodPostgreSQLTestSupport"], swiftSettings: strict),
        .testTarget(name: "DigestsTests", dependencies: ["HeartwoodDigests"], swiftSettings: strict),
        .testTarget(
            name: "HeartwoodS3Tests",
            dependencies: ["HeartwoodFileReading", "HeartwoodS3", "HeartwoodPlatform", "HeartwoodTestSupport", "RecordLog", "RecordLogRows"],
            swiftSettings: strict),
        .testTarget(
            name: "RecordLogTests", dependencies: ["HeartwoodPlatform", "RecordLog", "RecordLogRows", "HeartwoodTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HeartwoodTests",
            dependencies: [
                "HeartwoodFileReading", "Heartwood", "HeartwoodOutsideStore", "HeartwoodPostgreSQL", "HeartwoodPostgreSQLClient",
                "HeartwoodPostgreSQLTestSupport", "HeartwoodSQLite", "RecordLog", "HeartwoodTestSupport",
            ],
            swiftSettings: strict),
        // A store whose class is outside of the stack's module, over the seam of stores.
        .testTarget(
            name: "OutsideStoreTests", dependencies: ["Heartwood", "HeartwoodOutsideStore", "HeartwoodSQLite", "RecordLog"], swiftSettings: strict),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: [
                "Heartwood", "HeartwoodPostgreSQL", "HeartwoodPostgreSQLClient", "HeartwoodPostgreSQLTestSupport",
                "HeartwoodTestSupport", "heartwood-postgresql-testprocess",
            ],
            swiftSettings: strict),
        // A store over a server of tables in the process. HeartwoodTests runs its tests over it too; no product.
        .target(
            name: "HeartwoodOutsideStore", dependencies: ["Heartwood", "RecordLog"], path: "Tests/HeartwoodOutsideStore", swiftSettings: strict),
        // Questions whose answers are public. Apple's Core Data is asked the same by the package in Tests/Conformance.
        .testTarget(
            name: "ConformanceTests", dependencies: ["Heartwood"], path: "Tests/Conformance/Questions",
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "HeartwoodToolTests",
            dependencies: [
                "Heartwood", "HeartwoodFileReading", "HeartwoodPostgreSQLClient", "HeartwoodPostgreSQLTestSupport", "HeartwoodSQLite",
                "HeartwoodTestSupport", "HeartwoodTool", "RecordLog", "heartwood-recordlog-testprocess", "heartwood-testprocess",
            ],
            swiftSettings: strict),
        // Reads the sources: that no layer refers upwards.
        .testTarget(name: "StructureTests", dependencies: ["HeartwoodSwiftText"], swiftSettings: strict),
        // What tests of several targets use; no product.
        .target(name: "HeartwoodTestSupport", dependencies: ["RecordLog"], path: "Tests/HeartwoodTestSupport", swiftSettings: strict),
        // A server for tests, and a proxy of its protocol; no product.
        .target(
            name: "HeartwoodPostgreSQLTestSupport", dependencies: ["HeartwoodPostgreSQLClient", "HeartwoodTestSupport"],
            path: "Tests/HeartwoodPostgreSQLTestSupport", swiftSettings: strict),
        // The programs that tests of several processes run; no product. They do without HeartwoodSQLite.
        .executableTarget(
            name: "heartwood-recordlog-testprocess", dependencies: ["HeartwoodTestSupport", "RecordLog"], path: "Tests/RecordLogTestProcess",
            swiftSettings: strict),
        .executableTarget(
            name: "heartwood-postgresql-testprocess", dependencies: ["Heartwood", "HeartwoodPostgreSQL"],
            path: "Tests/HeartwoodPostgreSQLTestProcess", swiftSettings: strict),
        .executableTarget(
            name: "heartwood-testprocess", dependencies: ["Heartwood", "HeartwoodTestSupport"], path: "Tests/HeartwoodTestProcess",
            swiftSettings: strict),
    ]
)

// Tests/Fuzzing is a package of its own, which sees products only.
if Context.environment["HEARTWOOD_SUITE"] == "fuzzing" {
    package.products += ["HeartwoodFileReading", "HeartwoodSQLiteFile"].map { .library(name: $0, targets: [$0]) }
}

// A sanitizer's build holds only what it runs: HEARTWOOD_SUITE=engine for the engine and its tests, =stack for the stack's too, =models for
// SwiftData's besides, =threads for the tests of what threads share, =s3 for the S3-compatible destination's.
let engine = [
    "HeartwoodPlatform", "RecordLog", "RecordLogRows", "RecordLogTests", "HeartwoodTestSupport", "heartwood-recordlog-testprocess",
]
let stack =
    engine + [
        "HeartwoodDigests", "HeartwoodSQLiteBuilder", "HeartwoodSQLiteFile", "HeartwoodPredicateClasses", "HeartwoodFileReading", "Heartwood",
        "HeartwoodOutsideStore", "HeartwoodPostgreSQL", "HeartwoodPostgreSQLClient", "HeartwoodPostgreSQLTestSupport", "HeartwoodSQLite",
        "HeartwoodTests", "heartwood-testprocess",
    ]
let s3 = [
    "HeartwoodDigests", "DigestsTests", "HeartwoodFileReading", "HeartwoodS3", "HeartwoodS3Tests", "HeartwoodPlatform", "HeartwoodTestSupport",
    "RecordLog", "RecordLogRows",
]
let models = [
    "HeartwoodSwiftText", "HeartwoodSwiftDataExpansions", "HeartwoodSwiftDataMacros", "HeartwoodSwiftData", "SwiftData", "SwiftDataTests",
]
let suites = ["engine": engine, "stack": stack, "models": stack + models, "threads": stack + models, "s3": s3]
if let kept = Context.environment["HEARTWOOD_SUITE"].flatMap({ suites[$0] }) {
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}

// The suites of what threads share, with the files and folders that they use. The others take minutes to compile.
let threadTests = [
    "HeartwoodTests": [
        "Concurrency/ConcurrentContextTests.swift", "Concurrency/PerformTests.swift", "Concurrency/SanitizedMutex.swift",
        "Notifications/Heard.swift", "ResultsController/FollowingTests.swift", "ResultsController/ListMirror.swift",
        "StoreKind.swift", "Stores/DictionaryStore.swift", "Stores/JSONStore.swift", "TestStack.swift",
    ],
    "RecordLogTests": [
        "IO/SystemMutexTests.swift", "IO/WaitConditionTests.swift", "Samples", "Simulation/Disk", "Support/FrameOffsets.swift",
        "Support/LogStore+Writer.swift", "Support/SanitizedMutex.swift",
        "Writing/BackgroundCheckpointTests.swift", "Writing/BackgroundWriteTests.swift", "Writing/FollowingTests.swift",
        "Writing/RandomWorkloadTests.swift", "Writing/SharedSyncTests.swift",
    ],
    "SwiftDataTests": [
        "Actors", "Contexts/TurnsTests.swift", "History/HistoryModels.swift", "History/TestStore.swift", "Observing/ObserverTests.swift",
        "Samples/Library.swift",
    ],
]
if Context.environment["HEARTWOOD_SUITE"] == "threads" {
    for target in package.targets { target.sources = threadTests[target.name] ?? target.sources }
}

// HEARTWOOD_OPTIMIZED=1: a debug build whose lower modules are optimized, with all checks and assertions. It saves a third of the suite's time.
// Packages with such flags are refused as dependencies, so it is a switch.
if Context.environment["HEARTWOOD_OPTIMIZED"] != nil {
    let lower = [
        "HeartwoodPlatform", "RecordLog", "RecordLogRows", "HeartwoodDigests", "HeartwoodSQLiteFile", "HeartwoodSQLiteBuilder",
        "HeartwoodFileReading", "HeartwoodSwiftText",
    ]
    // With two threads the compiler writes a file's index beside each object file, as SwiftPM expects it.
    let flags = ["-O", "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2", "-assert-config", "Debug"]
    for target in package.targets where lower.contains(target.name) {
        target.swiftSettings? += [.unsafeFlags(flags, .when(configuration: .debug))]
    }

    // The suite starts the tool some thousand times. With the libraries inside, a start takes 5 ms of processor time in place of 22. The objects are
    // compiled for dynamic linking and name fewer libraries than static linking wants, so those are named here.
    let inside = [
        "CoreFoundation", "_FoundationICU", "_FoundationCShims", "_FoundationCollections", "dispatch", "swiftDispatch", "BlocksRuntime",
        "swift_RegexParser", "stdc++", "m",
    ]
    for target in package.targets where target.name == "heartwood-tool" {
        target.linkerSettings = [
            .unsafeFlags(["-static-stdlib"] + inside.map { "-l\($0)" }, .when(platforms: [.linux], configuration: .debug)),
        ]
    }
}

