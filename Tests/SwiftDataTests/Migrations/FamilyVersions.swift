import Foundation
import SwiftData

// One schema in seven versions. Each differs from the one before in one respect.

enum Family1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

    @Model final class Person {
        var name: String
        var age: Int = 0
        var note: String?
        var pet: Pet?
        init(name: String) { self.name = name }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}

/// A property has another name.
enum Family2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

    @Model final class Person {
        @Attribute(originalName: "name") var fullName: String
        var age: Int = 0
        var note: String?
        var pet: Pet?
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}

/// There is one property more, with a default value, and one less.
enum Family3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

    @Model final class Person {
        var fullName: String
        var age: Int = 0
        var level: Int = 3
        var pet: Pet?
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}

/// A property has another type.
enum Family4: VersionedSchema {
    static let versionIdentifier = Schema.Version(4, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

    @Model final class Person {
        var fullName: String
        var ageText: String = ""
        var level: Int = 3
        var pet: Pet?
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}

/// A to-one relationship leads to many.
enum Family5: VersionedSchema {
    static let versionIdentifier = Schema.Version(5, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }

    @Model final class Person {
        var fullName: String
        var ageText: String = ""
        var level: Int = 3
        @Relationship(originalName: "pet") var pets: [Pet] = []
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}

/// There is a subclass.
enum Family6: VersionedSchema {
    static let versionIdentifier = Schema.Version(6, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self, Manager.self] }

    @Model class Person {
        var fullName: String
        var ageText: String = ""
        var level: Int = 3
        var pets: [Pet] = []
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Manager: Person {
        var team: String = "none"
        init(fullName: String, team: String) {
            self.team = team
            super.init(fullName: fullName)
        }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}

/// A number becomes an enumeration, and a name is unique.
enum Family7: VersionedSchema {
    static let versionIdentifier = Schema.Version(7, 0, 0)
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self, Manager.self] }

    enum Rank: String, Codable { case low, high }

    @Model class Person {
        @Attribute(.unique) var fullName: String
        var ageText: String = ""
        var rank: Rank = Rank.low
        var pets: [Pet] = []
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Manager: Person {
        var team: String = "none"
        init(fullName: String, team: String) {
            self.team = team
            super.init(fullName: fullName)
        }
    }

    @Model final class Pet {
        var name: String
        var keeper: Person?
        init(name: String) { self.name = name }
    }
}
