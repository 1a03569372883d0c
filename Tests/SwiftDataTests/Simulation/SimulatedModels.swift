import Foundation
import SwiftData

/// The class above all linked models of the simulation: a number that tells the model, and a property of each type.
@Model class Thing {
    var number: Int = 0
    var int: Int = 1
    var int8: Int8 = 2
    var int32: Int32 = 3
    var uint16: UInt16 = 4
    var uint64: UInt64 = 5
    var double: Double = 1.5
    var float: Float = 2.5
    var bool: Bool = true
    var string: String = "a"
    var date: Date = Date(timeIntervalSinceReferenceDate: 1)
    var data: Data = Data([1])
    var uuid: UUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var url: URL = URL(filePath: "/a")
    var decimal: Decimal = Decimal(7)
    var text: Condition = Condition.new
    var side: Side = Side.front
    var payload: Origin = Origin.unknown
    var place: Place = Place(city: "a", zip: nil, point: Place.Point(x: 0, y: 0))
    var list: [Int] = [1]
    var map: [String: Int] = ["a": 1]
    var set: Set<String> = Set(["a"])
    var options: Options = Options.one
    @Attribute(.externalStorage) var picture: Data?
    var optInt: Int?
    var optUInt64: UInt64?
    var optDouble: Double?
    var optFloat: Float?
    var optBool: Bool?
    var optString: String?
    var optDate: Date?
    var optUUID: UUID?
    var optURL: URL?
    var optDecimal: Decimal?
    var optText: Condition?
    var optSide: Side?
    var optPayload: Origin?
    var optPlace: Place?
    var optList: [Int]?
    var optMap: [String: Int]?

    init(number: Int) { self.number = number }
}

@Model final class SimulatedOwner: Thing {
    var parent: SimulatedOwner?
    @Relationship(inverse: \SimulatedOwner.parent) var children: [SimulatedOwner] = []
    @Relationship(deleteRule: .cascade, inverse: \SimulatedCard.owner) var cards: [SimulatedCard] = []
    @Relationship(deleteRule: .deny, inverse: \Lock.owner) var locks: [Lock] = []
    @Relationship(deleteRule: .cascade, inverse: \SimulatedBadge.owner) var badge: SimulatedBadge?
    @Relationship(inverse: \Club.owners) var clubs: [Club] = []

    override init(number: Int) { super.init(number: number) }
}

@Model final class SimulatedCard: Thing {
    var owner: SimulatedOwner?

    override init(number: Int) { super.init(number: number) }
}

@Model final class Lock: Thing {
    var owner: SimulatedOwner?

    override init(number: Int) { super.init(number: number) }
}

@Model final class SimulatedBadge: Thing {
    var owner: SimulatedOwner?

    override init(number: Int) { super.init(number: number) }
}

@Model final class Club: Thing {
    var owners: [SimulatedOwner] = []

    override init(number: Int) { super.init(number: number) }
}

/// A model with a unique value: a second one with it changes the first.
@Model final class SimulatedLabel {
    @Attribute(.unique) var code: String
    var weight: Int = 0
    var note: String?

    init(code: String, weight: Int, note: String?) {
        self.code = code
        self.weight = weight
        self.note = note
    }

    var state: String { "\(weight) \(note ?? "-")" }
}
