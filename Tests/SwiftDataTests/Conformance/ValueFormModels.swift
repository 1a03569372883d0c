import Foundation
import SwiftData

// The models of the questions on values of many forms, and on classes with several relationships.

enum Weather: Codable { case sun, rain }

enum Phase: String, Codable, CaseIterable { case early = "e", late = "l" }

struct Reading: Codable, Equatable {
    var taken: Date
    var key: UUID
    var page: URL?
    var price: Decimal
    var phase: Phase
    var former: Phase?
    var marks: [Int]
    var names: [String: String]
    var range: Span?

    struct Span: Codable, Equatable {
        var low: Double
        var high: Double?
    }
}

/// Its coded names are others than its own.
struct Payload: Codable, Equatable {
    var weight: Double
    var isFragile: Bool

    enum CodingKeys: String, CodingKey {
        case weight = "w"
        case isFragile = "fragile"
    }
}

/// Encodes itself as one value.
struct Percentage: Codable, Equatable {
    var value: Int

    init(_ value: Int) { self.value = value }

    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

struct Pair<First: Codable & Equatable, Second: Codable & Equatable>: Codable, Equatable {
    var first: First
    var second: Second
}

/// A structure that holds others of its kind.
struct Branch: Codable, Equatable {
    var name: String
    var branches: [Branch] = []
}

struct Flags: OptionSet, Codable {
    let rawValue: Int
    static let one = Flags(rawValue: 1)
    static let four = Flags(rawValue: 4)
}

/// Codable values of many forms, each of them optional.
@Model final class Crate {
    var number: Int
    var reading: Reading?
    var payload: Payload?
    var percentage: Percentage?
    var pair: Pair<Int, String>?
    var branch: Branch?
    var flags: Flags?
    var weather: Weather?
    var weathers: [Weather] = []
    var table: [[Int]] = []
    var gaps: [String?] = []
    var keys: [UUID] = []
    var pages: [URL] = []
    var dates: [Date] = []
    var byPhase: [Phase: Int] = [:]
    var readings: [Reading] = []
    var zone: TimeZone?
    var locale: Locale?
    var interval: DateInterval?
    var components: DateComponents?
    var span: ClosedRange<Int>?
    var length: Measurement<UnitLength>?
    var size: CGSize?
    var elapsed: TimeInterval = 0
    var duration: Duration?

    init(number: Int) { self.number = number }
}

/// Its own key is its identity for the program.
@Model final class Member {
    @Attribute(.unique) var id: UUID
    var name: String

    init(id: UUID, name: String) {
        self.id = id
        self.name = name
    }
}

/// Leads to one class by two relationships, each with its inverse.
@Model final class Flight {
    var number: String
    @Relationship(inverse: \Airport.departures) var origin: Airport?
    @Relationship(inverse: \Airport.arrivals) var destination: Airport?

    init(number: String, from origin: Airport? = nil, to destination: Airport? = nil) {
        self.number = number
        self.origin = origin
        self.destination = destination
    }
}

@Model final class Airport {
    var code: String
    var departures: [Flight] = []
    var arrivals: [Flight] = []

    init(code: String) { self.code = code }
}

/// Leads to one class by two relationships, of which that class knows nothing.
@Model final class Match {
    var day: Int
    var home: Team?
    var guest: Team?

    init(day: Int, home: Team, guest: Team) {
        self.day = day
        self.home = home
        self.guest = guest
    }
}

@Model final class Team {
    var name: String

    init(name: String) { self.name = name }
}

/// The sails must have their cutter, and go with it.
@Model final class Cutter {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Sail.cutter) var sails: [Sail] = []

    init(name: String) { self.name = name }
}

@Model final class Sail {
    var area: Int
    var cutter: Cutter

    init(area: Int, cutter: Cutter) {
        self.area = area
        self.cutter = cutter
    }
}

/// Knows its tail and its knots, which know nothing of it.
@Model final class Kite {
    var name: String
    @Relationship(deleteRule: .cascade) var tail: Tail?
    @Relationship(deleteRule: .cascade) var knots: [Knot] = []
    var winder: Winder?

    init(name: String) { self.name = name }
}

@Model final class Tail {
    var length: Int

    init(length: Int) { self.length = length }
}

@Model final class Knot {
    var number: Int

    init(number: Int) { self.number = number }
}

@Model final class Winder {
    var name: String

    init(name: String) { self.name = name }
}
