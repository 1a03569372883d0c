import Foundation
import SwiftData
import Testing

@Model final class Ferry {
    var name: String
    @Attribute(.codable) var route: [String: Int] = [:]
    @Attribute(.ephemeral) var heat: Int?
    @Transient var isBoarding = false

    init(_ name: String) { self.name = name }
}

/// Conditions on enumerations, structures and lists of values.
@Suite struct PredicateValueQuestions {
    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A case is compared where it is captured`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), norway = Flag.norway, flags: [Flag] = [.malta, .panama]
        #expect(try fleet.names(#Predicate { $0.flag == norway }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.flag != norway }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { flags.contains($0.flag) }) == ["Bella", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A case that may be nil is compared, with nil too`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), double: Hull? = .double, none: Hull? = nil
        #expect(try fleet.names(#Predicate { $0.hull == double }) == ["Bella", "Dover"])
        #expect(try fleet.names(#Predicate { $0.hull == none }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.hull == nil }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.hull != double }) == ["Aurora", "Castor"])
    }

    @Test(.fatbobman("considerations-for-using-codable-and-enums-in-swiftdata-models"), arguments: StoreKind.allCases)
    func `The raw value of a case is compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), raw = Flag.norway.rawValue, number = Hull.double.rawValue
        #expect(try fleet.names(#Predicate { $0.flag.rawValue == raw }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.flag.rawValue.contains("an") }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.hull?.rawValue == number }) == ["Bella", "Dover"])
    }

    @Test(.fatbobman("considerations-for-using-codable-and-enums-in-swiftdata-models"), arguments: StoreKind.allCases)
    func `A stored property of a structure is compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), quay = "north"
        #expect(try fleet.names(#Predicate { $0.berth.quay == quay }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { $0.berth.number > 1 }) == ["Castor", "Dover"])
        #expect(try fleet.names(#Predicate { $0.berth.quay.contains("ou") && $0.berth.number < 2 }) == ["Bella"])
    }

    @Test(.fatbobman("considerations-for-using-codable-and-enums-in-swiftdata-models"), arguments: StoreKind.allCases)
    func `A part of a structure may be nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.berth.note == nil }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.berth.note == "deep" }) == ["Castor", "Dover"])
    }

    @Test(.fatbobman("considerations-for-using-codable-and-enums-in-swiftdata-models"), arguments: StoreKind.allCases)
    func `A structure may be nil itself`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.mooring == nil }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { $0.mooring?.quay == "west" }) == ["Bella", "Dover"])
        #expect(try fleet.names(#Predicate { $0.mooring?.number == nil }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { ($0.mooring?.number ?? 0) > 5 }) == ["Bella", "Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Whole structures are compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), berth = Quay(quay: "south", number: 1, note: nil), none: Quay? = nil
        #expect(try fleet.names(#Predicate { $0.berth == berth }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.berth != berth }) == ["Aurora", "Castor", "Dover"])
        #expect(try fleet.names(#Predicate { $0.mooring == none }) == ["Aurora", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A list of values is asked for a member, for its length and by a condition`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), mark = "red"
        #expect(try fleet.names(#Predicate { $0.marks.contains(mark) }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.marks.isEmpty }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.marks.count == 2 }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.marks.contains { $0.starts(with: "gr") } }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.marks == ["green"] }) == ["Dover"])
    }

    @Test(.fatbobman("considerations-for-using-codable-and-enums-in-swiftdata-models"), arguments: StoreKind.allCases)
    func `Models are sorted by a part of a structure and by a raw value`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let byPart = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.berth.quay, order: .reverse), SortDescriptor(\.berth.number)])
        #expect(try ModelContext(fleet.container).fetch(byPart).map(\.name) == ["Bella", "Dover", "Aurora", "Castor"])
        let byFlag = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.flag.rawValue), SortDescriptor(\.tonnage)])
        #expect(try ModelContext(fleet.container).fetch(byFlag).map(\.name) == ["Bella", "Aurora", "Dover", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A change of a part that is not saved is seen`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[0].berth.quay = "east"
        fleet.ships[1].flag = .panama
        let east = FetchDescriptor<Freighter>(predicate: #Predicate { $0.berth.quay == "east" }), flag = Flag.panama
        #expect(try fleet.context.fetch(east).map(\.name) == ["Aurora"])
        #expect(try fleet.context.fetchCount(FetchDescriptor<Freighter>(predicate: #Predicate { $0.flag == flag })) == 2)
        #expect(try ModelContext(fleet.container).fetchCount(east) == 0)
    }

    @Test(.wwdc(2026, 274, "codable attributes are opaque, so nothing sorts by them"), arguments: StoreKind.allCases)
    func `Nothing sorts by what is kept encoded`(kind: StoreKind) throws {
        let stack = try Stack(kind, Ferry.self), context = stack.context
        context.insert(Ferry("a"))
        try context.save()
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
            try context.fetch(FetchDescriptor<Ferry>(sortBy: [SortDescriptor(\.route.count)]))
        }
    }

    @Test(.wwdc(2026, 274, "codable attributes are opaque, so nothing filters by them"), arguments: StoreKind.allCases)
    func `A predicate on what is kept encoded is refused`(kind: StoreKind) throws {
        let stack = try Stack(kind, Ferry.self), context = stack.context
        knownDifference("The program evaluates what the store cannot judge. It reads all models of the class.") {
            #expect(throws: SwiftDataError.unsupportedPredicate) {
                try context.fetch(FetchDescriptor<Ferry>(predicate: #Predicate { $0.route.isEmpty }))
            }
        }
    }

    @Test(.swiftDataPro("no computed and no transient properties"), arguments: StoreKind.allCases)
    func `A predicate on a computed or a transient property is refused`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ferries = try Stack(kind, Ferry.self)
        knownDifference("The program evaluates what the store cannot judge. It reads all models of the class.") {
            #expect(throws: SwiftDataError.unsupportedPredicate) {
                try fleet.context.fetch(FetchDescriptor<Freighter>(predicate: #Predicate { $0.summary == "Dover, 400" }))
            }
            #expect(throws: SwiftDataError.unsupportedPredicate) {
                try ferries.context.fetch(FetchDescriptor<Ferry>(predicate: #Predicate { $0.isBoarding }))
            }
        }
    }
}
