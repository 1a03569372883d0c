import Foundation
import SwiftData

// The models of the questions on attributes, values and inheritance.

/// Two properties together are unique, and one alone.
@Model final class Seed {
    #Unique<Seed>([\.genus, \.species], [\.code])
    #Index<Seed>([\.genus], [\.species, \.count])

    var genus: String
    var species: String
    var code: Int
    var count: Int

    init(genus: String, species: String, code: Int, count: Int) {
        self.genus = genus
        self.species = species
        self.code = code
        self.count = count
    }
}

/// What the options of an attribute ask for.
@Model final class Card {
    @Attribute(.preserveValueOnDeletion) var key: String
    @Attribute(.externalStorage) var photo: Data?
    @Attribute(.ephemeral) var draft: String?
    @Attribute(.allowsCloudEncryption) var secret: String?
    @Attribute(.spotlight) var title: String?
    @Attribute(.codable) var spot: Spot?
    @Attribute(.transformable(by: ReversedText.self)) var motto: NSString?
    @Attribute(.transformable(by: "ReversedText")) var slogan: NSString?

    init(key: String) { self.key = key }
}

/// Stores a text backwards.
final class ReversedText: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        (value as? NSString).map { Data(String($0.description.reversed()).utf8) as NSData }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? NSData).map { String(String(decoding: Data(referencing: $0), as: UTF8.self).reversed()) as NSString }
    }

    static func register() { ValueTransformer.setValueTransformer(ReversedText(), forName: NSValueTransformerName("ReversedText")) }
}

// MARK: Values

enum Colour: String, Codable { case red, green, blue }

enum Grade: Int, Codable { case first = 1, second = 2 }

enum Growth: Codable, Equatable {
    case seed
    case leaves(Int)
    case bloom(colour: Colour, since: Date)
}

struct Spot: Codable, Equatable {
    var x: Double
    var y: Double
    var name: String?
    var height = Height(low: 0, high: 1)

    struct Height: Codable, Equatable {
        var low: Int
        var high: Int
    }
}

/// A property of each form.
@Model final class Specimen {
    var number: Int
    var colour: Colour = Colour.red
    var grade: Grade?
    var growth: Growth = Growth.seed
    var spot: Spot = Spot(x: 0, y: 0)
    var home: Spot?
    var tags: [String] = []
    var spots: [Spot] = []
    var colours: [Colour] = []
    var counts: [String: Int] = [:]
    var marks: Set<Int> = []
    var remarks: [String]?
    var flag: Bool = false
    var small: Int16 = 0
    var ratio: Double = 0
    var share: Float = 0
    var text: String = ""
    var note: String?
    var image: Data = Data()
    var key: UUID = UUID()
    var page: URL?
    var found: Date = Date(timeIntervalSinceReferenceDate: 0)
    var price: Decimal = Decimal(0)

    init(number: Int) { self.number = number }
}

// MARK: Inheritance

@Model class Building {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Room.building) var rooms: [Room] = []

    init(name: String) { self.name = name }
}

@Model class House: Building {
    var floors: Int
    var owner: Owner?

    init(name: String, floors: Int) {
        self.floors = floors
        super.init(name: name)
    }
}

@Model final class Villa: House {
    var hasPool: Bool

    init(name: String, floors: Int, hasPool: Bool) {
        self.hasPool = hasPool
        super.init(name: name, floors: floors)
    }
}

@Model final class Barn: Building {
    var cows: Int

    init(name: String, cows: Int) {
        self.cows = cows
        super.init(name: name)
    }
}

@Model final class Room {
    var purpose: String
    var building: Building?

    init(purpose: String) { self.purpose = purpose }
}

@Model final class Owner {
    var name: String
    @Relationship(inverse: \House.owner) var houses: [House] = []

    init(name: String) { self.name = name }
}
