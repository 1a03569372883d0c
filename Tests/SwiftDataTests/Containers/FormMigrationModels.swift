import Foundation
import SwiftData

/// Two versions of classes whose properties keep their names and have other forms: see `FormMigrationTests`.
enum KitchenV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Dish.self, Soup.self] }

    /// Decodes itself without keys, so it is JSON.
    struct Steps: Codable, Equatable {
        var texts: [String]
        init(texts: [String]) { self.texts = texts }
        init(from decoder: any Decoder) throws { texts = try decoder.singleValueContainer().decode([String: [String]].self)["texts"] ?? [] }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(["texts": texts])
        }
    }

    struct Size: Codable, Equatable {
        var name: String
        var level: Level
        var grams: Double
        var since: Date
        var price: Decimal
        var id: UUID
        var link: URL?
        var bytes: Data
        var counts: [Int]
    }

    enum Level: Int, Codable { case easy = 1, hard }

    /// A structure of one property has the form of an enumeration with that name.
    struct Label: Codable, Equatable { var label: String }

    @Model
    class Dish {
        @Attribute(.unique) var name: String
        var steps: Steps
        var size: Size
        var level: Level
        var label: Label
        var link: String
        var origin: String?
        var former: Level?
        init(name: String, size: Size, level: Level) {
            self.name = name
            steps = Steps(texts: ["cook", "eat \(name)"])
            self.size = size
            self.level = level
            label = Label(label: "label of \(name)")
            link = "https://example.org/\(name)"
        }
    }

    @Model
    final class Soup: Dish {
        var spice: [String] = []
        override init(name: String, size: Size, level: Level) { super.init(name: name, size: size, level: level) }
    }
}

enum KitchenV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Dish.self, Soup.self] }

    struct Steps: Codable, Equatable { var texts: [String] }

    /// Decodes itself without keys, so it is JSON.
    struct Size: Codable, Equatable {
        var parts: KitchenV1.Size
        init(from decoder: any Decoder) throws { parts = try decoder.singleValueContainer().decode(KitchenV1.Size.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(parts)
        }
    }

    struct Level: Codable, Equatable {
        var number: Int
        init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) * 10 }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number / 10)
        }
    }

    struct Label: Codable, Equatable {
        var text: String
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode([String: String].self)["label"] ?? "" }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(["label": text])
        }
    }

    enum Spice: String, Codable { case pepper, salt }

    @Model
    class Dish {
        #Index<Dish>([\.link])
        @Attribute(.unique) var name: String
        var steps: Steps
        var size: Size
        @Attribute(originalName: "level") var difficulty: Level
        var label: Label
        @Attribute(.unique) var link: URL
        var origin: Spice? = Spice.salt
        var former: Level?
        init(name: String, steps: Steps, size: Size, difficulty: Level, label: Label, link: URL) {
            (self.name, self.steps, self.size, self.difficulty, self.label, self.link) = (name, steps, size, difficulty, label, link)
        }
    }

    @Model
    final class Soup: Dish {
        var spice: Set<Spice> = []
        override init(name: String, steps: Steps, size: Size, difficulty: Level, label: Label, link: URL) {
            super.init(name: name, steps: steps, size: size, difficulty: difficulty, label: label, link: link)
        }
    }
}

enum KitchenPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [KitchenV1.self, KitchenV2.self] }
    static var stages: [MigrationStage] {
        [.custom(fromVersion: KitchenV1.self, toVersion: KitchenV2.self, willMigrate: nil, didMigrate: { context in
            for dish in try context.fetch(FetchDescriptor<KitchenV2.Dish>()) { dish.steps.texts.append("wash up") }
        })]
    }
}

/// `ShelfV1`'s raw values are no raw values of `ShelfV2`.
enum ShelfV1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Box.self] }

    enum Colour: String, Codable { case red, blue }

    @Model
    final class Box {
        var colour: Colour
        var note: String?
        init(colour: Colour, note: String? = nil) {
            self.colour = colour
            self.note = note
        }
    }
}

enum ShelfV2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Box.self] }

    enum Colour: Int, Codable { case red, blue }

    @Model
    final class Box {
        var colour: Colour
        init() { colour = .red }
    }
}

/// A value is required that the first version need not have.
enum ShelfV3: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
    static var models: [any PersistentModel.Type] { [Box.self] }

    @Model
    final class Box {
        var note: URL
        init(note: URL) { self.note = note }
    }
}

enum ShelfV4: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(4, 0, 0) }
    static var models: [any PersistentModel.Type] { [Box.self] }

    @Model
    final class Box {
        var note: URL = URL(filePath: "/none")
        init() {}
    }
}
