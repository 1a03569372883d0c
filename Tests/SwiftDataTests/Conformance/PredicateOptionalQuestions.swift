import Foundation
import SwiftData
import Testing

/// Conditions on properties that may be nil.
@Suite struct PredicateOptionalQuestions {
    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `nil is found on either side of a comparison`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.motto == nil }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.motto != nil }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { nil == $0.motto }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { nil != $0.retired }) == ["Bella", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A value is equal to a property that has it, and to no nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), motto = "Ever on", rank = 4
        #expect(try fleet.names(#Predicate { $0.motto == motto }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.rank == rank }) == ["Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `nil is unequal to a value, as in Swift`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), motto = "Ever on"
        #expect(try fleet.names(#Predicate { $0.motto != motto }) == ["Aurora", "Castor", "Dover"])
        #expect(try fleet.names(#Predicate { !($0.motto == motto) }) == ["Aurora", "Castor", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A captured optional may be nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), none: String? = nil, some: String? = "Ever on", date: Date? = nil
        #expect(try fleet.names(#Predicate { $0.motto == none }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.motto != none }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { $0.motto == some }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.retired == date }) == ["Aurora", "Castor"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A default takes the place of nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), far = day(1000), date = day(25)
        #expect(try fleet.names(#Predicate { ($0.retired ?? far) > date }) == ["Aurora", "Castor", "Dover"])
        #expect(try fleet.names(#Predicate { ($0.rank ?? 0) < 2 }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { ($0.motto ?? "") == "" }) == ["Aurora", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A chain on nil is nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.motto?.contains("on") == true }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.motto?.contains("on") != true }) == ["Aurora", "Castor", "Dover"])
        #expect(try fleet.names(#Predicate { $0.motto?.contains("on") ?? true }) == ["Aurora", "Bella", "Dover"])
        #expect(try fleet.names(#Predicate { $0.motto?.starts(with: "E") ?? false }) == ["Bella"])
    }

    @Test(.forum(742807, "the accepted answer unwraps a date by flatMap"), arguments: StoreKind.allCases)
    func `flatMap unwraps a property for a condition`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), start = day(10), end = day(25)
        #expect(try fleet.names(#Predicate { $0.retired.flatMap { $0 >= start && $0 <= end } == true }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.retired.flatMap { $0 > end } ?? true }) == ["Aurora", "Castor", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `if let unwraps a property for a condition`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), date = day(25)
        let found = try fleet.names(#Predicate { if let retired = $0.retired { retired > date } else { false } })
        #expect(found == ["Dover"])
        let others = try fleet.names(#Predicate { ship in
            if let motto = ship.motto {
                motto.contains("on")
            } else {
                ship.tonnage > 300
            }
        })
        #expect(others == ["Bella", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A property is unwrapped by force where it is not nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), date = day(25)
        #expect(try fleet.names(#Predicate { $0.retired != nil && $0.retired! > date }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.rank == nil || $0.rank! > 2 }) == ["Castor", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A Boolean has three states where it may be nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.isInsured == true }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.isInsured == false }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.isInsured == nil }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.isInsured ?? false }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.isInsured != true }) == ["Bella", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Two optional properties are equal where both are nil`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[1].berth.note = "Ever on"
        try fleet.context.save()
        #expect(try fleet.names(#Predicate { $0.motto == $0.berth.note }) == ["Aurora", "Bella"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A captured list contains an unwrapped property`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ranks = [1, 4]
        #expect(try fleet.names(#Predicate { ranks.contains($0.rank ?? -1) }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { if let rank = $0.rank { ranks.contains(rank) } else { false } }) == ["Aurora", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `A captured list of optionals contains nil`(kind: StoreKind) throws {
        let ranks: [Int?] = [1, nil]
        #expect(try Fleet(kind).names(#Predicate { ranks.contains($0.rank) }) == ["Aurora", "Castor"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `An optional to-many relationship is asked through a chain`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.voyages?.contains { $0.title == "Iceland" } ?? false }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.voyages?.isEmpty == false }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { ($0.voyages?.count ?? 0) == 1 }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { if let voyages = $0.voyages { voyages.count == 1 } else { false } }) == ["Aurora", "Dover"])
    }

    @Test(.fatbobman("how-to-handle-optional-values-in-swiftdata-predicates"), arguments: StoreKind.allCases)
    func `flatMap unwraps an optional to-many relationship`(kind: StoreKind) throws {
        let found = try Fleet(kind).names(#Predicate { $0.voyages.flatMap { $0.contains { $0.title.contains("Ice") } } == true })
        #expect(found == ["Aurora", "Dover"])
    }
}
