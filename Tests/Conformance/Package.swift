// swift-tools-version: 6.2
// The questions put to Apple's Core Data, on a Mac: `swift test --package-path Tests/Conformance`. See README.md.
import PackageDescription

let package = Package(
    name: "conformance-on-apple",
    platforms: [.macOS(.v15)],
    targets: [
        .testTarget(
            name: "ConformanceTests", path: "Questions", swiftSettings: [.swiftLanguageMode(.v5), .define("CONFORMANCE_COREDATA")])
    ]
)
