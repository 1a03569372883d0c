import Foundation
import SwiftData
import Testing

/// The operations that Foundation's page lists for predicates, asked of a store.
@Suite struct PredicateOperatorQuestions {
    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A property is compared with a captured value by each operator`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), limit = 200
        #expect(try fleet.names(#Predicate { $0.tonnage == limit }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.tonnage != limit }) == ["Aurora", "Castor", "Dover"])
        #expect(try fleet.names(#Predicate { $0.tonnage < limit }) == ["Aurora"])
        #expect(try fleet.names(#Predicate { $0.tonnage <= limit }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.tonnage > limit }) == ["Castor", "Dover"])
        #expect(try fleet.names(#Predicate { $0.tonnage >= limit }) == ["Bella", "Castor", "Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `The captured value may stand first`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), limit = 200
        #expect(try fleet.names(#Predicate { limit < $0.tonnage }) == ["Castor", "Dover"])
        #expect(try fleet.names(#Predicate { limit == $0.tonnage }) == ["Bella"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Two properties of one model are compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[3].name = "north"
        try fleet.context.save()
        #expect(try fleet.names(#Predicate { $0.name == $0.berth.quay }) == [])
        fleet.ships[3].berth.quay = "north"
        try fleet.context.save()
        #expect(try fleet.names(#Predicate { $0.name == $0.berth.quay }) == ["north"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Conditions are joined by and, or and not`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), name = "Aurora"
        #expect(try fleet.names(#Predicate { $0.tonnage > 100 && $0.tonnage < 400 }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { $0.name == name || $0.tonnage > 300 }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { !($0.name == name || $0.tonnage > 300) }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { $0.name == name && $0.tonnage > 300 || $0.isActive && $0.tonnage == 200 }) == ["Bella"])
    }

    @Test(.wwdc(2023, 10196, "a property that is compared with false"), arguments: StoreKind.allCases)
    func `A Boolean property is a condition by itself, negated and compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.isActive }) == ["Aurora", "Bella", "Dover"])
        #expect(try fleet.names(#Predicate { !$0.isActive }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.isActive == false }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.isActive && !$0.isActive }) == [])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Sums, differences and products are computed`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), factor = 2
        #expect(try fleet.names(#Predicate { $0.tonnage + 50 > 400 }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.tonnage - 100 == 0 }) == ["Aurora"])
        #expect(try fleet.names(#Predicate { $0.tonnage * factor == 400 }) == ["Bella"])
        #expect(try fleet.names(#Predicate { ($0.tonnage + 100) * factor - 1 > 700 }) == ["Castor", "Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Integers are divided without a rest, and floating-point numbers with one`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.tonnage / 150 == 1 }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.tonnage % 200 == 0 }) == ["Bella", "Dover"])
        #expect(try fleet.names(#Predicate { $0.speed / 2 == 6.25 }) == ["Aurora"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A number is negated`(kind: StoreKind) throws {
        #expect(try Fleet(kind).names(#Predicate { -$0.tonnage < -300 }) == ["Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A closed range has its end, and a half-open one has not`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), low = 200, high = 300
        #expect(try fleet.names(#Predicate { (low...high).contains($0.tonnage) }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { (low..<high).contains($0.tonnage) }) == ["Bella"])
        #expect(try fleet.names(#Predicate { (200...300).contains($0.tonnage) }) == ["Bella", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A captured range is asked for a property`(kind: StoreKind) throws {
        let range = 150..<350, dates = day(2)...day(3)
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { range.contains($0.tonnage) }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { dates.contains($0.launched) }) == ["Bella", "Castor"])
    }

    @Test(.wwdc(2024, 10137, "the current date falls within the trip"), arguments: StoreKind.allCases)
    func `A range of two properties is asked for a captured value`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), far = day(100), today = day(25)
        #expect(try fleet.names(#Predicate { ($0.launched..<($0.retired ?? far)).contains(today) }) == ["Aurora", "Castor", "Dover"])
    }

    @Test(.wwdc(2024, 10137, "no search text finds all"), arguments: StoreKind.allCases, ["", "ver", "DOVE"])
    func `A ternary on a captured value chooses the condition`(kind: StoreKind, text: String) throws {
        let found = try Fleet(kind).names(#Predicate { text.isEmpty ? true : $0.name.localizedStandardContains(text) })
        #expect(found == (text.isEmpty ? ["Aurora", "Bella", "Castor", "Dover"] : ["Dover"]))
    }

    @Test(.wwdc(2024, 10137, "a compound predicate for search text"), arguments: StoreKind.allCases)
    func `A ternary's branch may be a compound condition`(kind: StoreKind) throws {
        let text = "b"
        let found = try Fleet(kind).names(#Predicate {
            text.isEmpty ? true : $0.name.localizedStandardContains(text) || $0.berth.quay.localizedStandardContains(text)
        })
        #expect(found == ["Bella"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A ternary on a property chooses for each model`(kind: StoreKind) throws {
        let found = try Fleet(kind).names(#Predicate { ($0.isActive ? $0.tonnage : 0) < 200 })
        #expect(found == ["Aurora", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A conditional expression chooses the condition`(kind: StoreKind) throws {
        let found = try Fleet(kind).names(#Predicate { ship in
            if ship.tonnage > 250 {
                ship.isActive
            } else if ship.tonnage > 150 {
                false
            } else {
                true
            }
        })
        #expect(found == ["Aurora", "Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `The greatest and the least of several numbers are compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), numbers = [50, 250]
        #expect(try fleet.names(#Predicate { numbers.max() ?? 0 < $0.tonnage }) == ["Castor", "Dover"])
        #expect(try fleet.names(#Predicate { numbers.min() ?? 0 < $0.tonnage }) == ["Aurora", "Bella", "Castor", "Dover"])
    }

    @Test(.foundation("predicate/true"), arguments: StoreKind.allCases)
    func `The predicates true and false choose all and none`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(.true).count == 4)
        #expect(try fleet.names(.false).isEmpty)
        #expect(try fleet.names(#Predicate { _ in true }).count == 4)
    }

    @Test(.foundation("predicate/evaluate(_:)"), arguments: StoreKind.allCases)
    func `Evaluated on models in memory, a predicate gives what the store gives`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), limit = 150
        let predicate = #Predicate<Freighter> { $0.tonnage > limit && $0.home?.name == "Bergen" }
        #expect(try fleet.ships.filter { try predicate.evaluate($0) }.map(\.name) == fleet.names(predicate))
        #expect(try fleet.ships.filter(predicate).map(\.name) == ["Bella"])
    }
}
