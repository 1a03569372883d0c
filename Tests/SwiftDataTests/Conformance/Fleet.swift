import Foundation
import SwiftData
import Testing

enum Flag: String, Codable, CaseIterable { case norway, malta, panama }

enum Hull: Int, Codable { case single = 1, double = 2 }

/// Where a ship lies, as a composite of its attributes.
struct Quay: Codable, Equatable {
    var quay: String
    var number: Int
    var note: String?
}

@Model final class Harbour {
    @Attribute(.unique) var name: String
    var depth: Double = 10
    @Relationship(inverse: \Freighter.home) var ships: [Freighter] = []

    init(name: String) { self.name = name }
}

@Model final class Freighter {
    var name: String
    var tonnage: Int
    var speed: Double = 10
    var price: Decimal = 0
    var launched: Date
    var retired: Date?
    var code: UUID = UUID()
    var page: URL?
    var motto: String?
    var rank: Int?
    var isActive: Bool = true
    var isInsured: Bool?
    var flag: Flag = Flag.norway
    var hull: Hull?
    var berth: Quay = Quay(quay: "", number: 0, note: nil)
    var mooring: Quay?
    var marks: [String] = []
    var home: Harbour?
    @Relationship(deleteRule: .cascade, inverse: \Sailor.ship) var crew: [Sailor] = []
    @Relationship(inverse: \Voyage.ships) var voyages: [Voyage]?

    init(_ name: String, tonnage: Int, launched: Date) {
        self.name = name
        self.tonnage = tonnage
        self.launched = launched
    }

    var summary: String { "\(name), \(tonnage)" }
}

@Model final class Sailor {
    var name: String
    var age: Int
    var isHired: Bool = true
    var ship: Freighter?

    init(_ name: String, age: Int) {
        self.name = name
        self.age = age
    }
}

@Model final class Voyage {
    var title: String
    var ships: [Freighter]? = []

    init(_ title: String) { self.title = title }
}

func day(_ number: Double) -> Date { Date(timeIntervalSinceReferenceDate: number * 86_400) }

/// Four ships in two harbours, saved in a store of a kind.
///
/// | ship | tonnage | launched | retired | motto | rank | insured | flag | hull | home | crew |
/// |---|---|---|---|---|---|---|---|---|---|---|
/// | Aurora | 100 | day 1 | | | 1 | yes | norway | single | Bergen | Ann 30, Ben 40 |
/// | Bella | 200 | day 2 | day 20 | Ever on | 2 | no | malta | double | Bergen | Cid 50 |
/// | Castor | 300 | day 3 | | Ölfahrt | | | panama | | Cork | |
/// | Dover | 400 | day 4 | day 30 | | 4 | yes | norway | double | | Dan 20, Eve 60 |
struct Fleet {
    static let code = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let page = URL(string: "https://example.org/bella")

    let stack: Stack
    let ships: [Freighter]
    let harbours: [Harbour]

    init(_ kind: StoreKind) throws {
        stack = try Stack(kind, Freighter.self, Harbour.self, Sailor.self, Voyage.self)
        ships = ["Aurora", "Bella", "Castor", "Dover"].enumerated().map { index, name in
            Freighter(name, tonnage: 100 * (index + 1), launched: day(Double(index + 1)))
        }
        harbours = ["Bergen", "Cork"].map(Harbour.init)
        for ship in ships { stack.context.insert(ship) }
        (ships[0].home, ships[1].home, ships[2].home) = (harbours[0], harbours[0], harbours[1])
        (ships[1].retired, ships[3].retired) = (day(20), day(30))
        (ships[1].motto, ships[2].motto) = ("Ever on", "Ölfahrt")
        for (index, ship) in ships.enumerated() {
            ship.rank = [1, 2, nil, 4][index]
            ship.isInsured = [true, false, nil, true][index]
            ship.flag = [.norway, .malta, .panama, .norway][index]
            ship.hull = [.single, .double, nil, .double][index]
            ship.speed = [12.5, 10, 7.5, 20][index]
            ship.price = Decimal(index + 1) / 4
            ship.isActive = index != 2
            ship.berth = Quay(quay: ["north", "south"][index % 2], number: index, note: [nil, "deep"][index / 2])
            ship.mooring = [nil, Quay(quay: "west", number: 9, note: nil)][index % 2]
            ship.marks = [["red"], ["red", "blue"], [], ["green"]][index]
        }
        (ships[1].code, ships[1].page) = (Self.code, Self.page)
        for (name, age, index) in [("Ann", 30, 0), ("Ben", 40, 0), ("Cid", 50, 1), ("Dan", 20, 3), ("Eve", 60, 3)] {
            let sailor = Sailor(name, age: age)
            sailor.isHired = name != "Eve"
            sailor.ship = ships[index]
        }
        let voyage = Voyage("Iceland")
        stack.context.insert(voyage)
        voyage.ships = [ships[0], ships[3]]
        try stack.context.save()
    }

    var container: ModelContainer { stack.container }
    var context: ModelContext { stack.context }

    /// The names of the ships that a predicate chooses. A context that has read nothing, the context that has all, the count and the identifiers
    /// have to agree.
    func names(_ predicate: Predicate<Freighter>, _ location: SourceLocation = #_sourceLocation) throws -> [String] {
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
        let found = try ModelContext(container).fetch(descriptor).map(\.name)
        #expect(try context.fetch(descriptor).map(\.name) == found, sourceLocation: location)
        #expect(try context.fetchCount(descriptor) == found.count, sourceLocation: location)
        #expect(try context.fetchIdentifiers(descriptor).count == found.count, sourceLocation: location)
        return found
    }
}
