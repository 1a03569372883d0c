// swift-tools-version: 6.2
import PackageDescription

// Programs to read and to start from; a package of its own, as yours is. `swift run --package-path Examples TodoList` runs one.
let package = Package(
    name: "heartwood-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "heartwood", path: "..")],
    targets: [
        .executableTarget(
            name: "TodoList", dependencies: [.product(name: "Heartwood", package: "heartwood")], resources: [.copy("Todo.xcdatamodeld")],
            plugins: [.plugin(name: "HeartwoodModels", package: "heartwood")]),
        .executableTarget(
            name: "Jokes", dependencies: [.product(name: "CoreData", package: "heartwood")], resources: [.copy("Jokes.xcdatamodeld")],
            plugins: [.plugin(name: "HeartwoodModels", package: "heartwood")]),
        .executableTarget(name: "BooksAndFeedback", dependencies: [.product(name: "Heartwood", package: "heartwood")]),
        .executableTarget(name: "School", dependencies: [.product(name: "Heartwood", package: "heartwood")]),
        .executableTarget(name: "AddressBook", dependencies: [.product(name: "Heartwood", package: "heartwood")]),
    ]
)
