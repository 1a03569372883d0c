// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "heartwood-postgresql-benchmark",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "heartwood", path: "../..")],
    targets: [
        .executableTarget(
            name: "heartwood-postgresql-benchmark", dependencies: [.product(name: "Heartwood", package: "heartwood")],
            path: "Sources/HeartwoodPostgreSQLBenchmark", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
