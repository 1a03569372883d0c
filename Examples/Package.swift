// swift-tools-version: 6.2
import PackageDescription

// Programs to read and to start from; a package of its own, as yours is. `swift run --package-path Examples TodoList` runs one.
// Four are what introductions to Core Data show: model files made in Xcode, `import CoreData`, Swift's language mode 5.

func introduction(_ name: String, model: String) -> Target {
    .executableTarget(
        name: name, dependencies: [.product(name: "CoreData", package: "heartwood")], resources: [.copy("\(model).xcdatamodeld")],
        swiftSettings: [.swiftLanguageMode(.v5)], plugins: [.plugin(name: "HeartwoodModels", package: "heartwood")])
}

let package = Package(
    name: "heartwood-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "heartwood", path: "..")],
    targets: [
        introduction("Jokes", model: "Jokes"),
        introduction("TodoList", model: "ToDo"),
        introduction("BooksAndFeedback", model: "Bookshop"),
        introduction("School", model: "School"),
        // The program of README.md and of the guide "Getting started".
        .executableTarget(
            name: "Shop", dependencies: [.product(name: "Heartwood", package: "heartwood")], resources: [.copy("Shop.xcdatamodeld")],
            plugins: [.plugin(name: "HeartwoodModels", package: "heartwood")]),
        // The same with SwiftData's interface.
        .executableTarget(name: "ShopModels", dependencies: [.product(name: "SwiftData", package: "heartwood")]),
        .executableTarget(name: "AddressBook", dependencies: [.product(name: "Heartwood", package: "heartwood")]),
        // Models with @Model, their versions and an actor.
        .executableTarget(name: "Travel", dependencies: [.product(name: "SwiftData", package: "heartwood")]),
        .executableTarget(name: "Films", dependencies: [.product(name: "RecordLogRows", package: "heartwood")]),
    ]
)
