import Foundation
import SwiftData
import Testing

/// Conditions on texts, dates and other values of one property.
@Suite struct PredicateTextQuestions {
    @Test(.wwdc(2023, 10187, "fetching by a destination, a part of a name and a date"), arguments: StoreKind.allCases)
    func `A text is equal, has a part, and a date lies before another`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), date = day(3)
        #expect(try fleet.names(#Predicate { $0.name == "Castor" }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.name.contains("o") && $0.launched > date }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.launched < date }) == ["Aurora", "Bella"])
    }

    @Test(.byExample("how-to-filter-swiftdata-results-with-predicates"), arguments: StoreKind.allCases)
    func `contains sees case`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.name.contains("ella") }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.name.contains("ELLA") }) == [])
    }

    @Test(.byExample("how-to-filter-swiftdata-results-with-predicates"), arguments: StoreKind.allCases)
    func `localizedStandardContains sees no case`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.name.localizedStandardContains("ELLA") }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.name.localizedStandardContains("a") }) == ["Aurora", "Bella", "Castor"])
    }

    @Test(.foundation("nsstring/localizedstandardcontains(_:)"), arguments: StoreKind.allCases)
    func `localizedStandardContains sees no accents`(kind: StoreKind) throws {
        let found = try Fleet(kind).names(#Predicate { $0.motto?.localizedStandardContains("olf") == true })
        #expect(found == ["Castor"])
    }

    @Test(.byExample("how-to-filter-swiftdata-results-with-predicates"), arguments: StoreKind.allCases)
    func `A text starts with another, as it is written`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), start = "Do"
        #expect(try fleet.names(#Predicate { $0.name.starts(with: start) }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.name.starts(with: "do") }) == [])
        #expect(try fleet.names(#Predicate { $0.name.starts(with: "Dover and more") }) == [])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `An empty text is found by isEmpty and by comparison`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[2].name = ""
        try fleet.context.save()
        #expect(try fleet.names(#Predicate { $0.name.isEmpty }) == [""])
        #expect(try fleet.names(#Predicate { !$0.name.isEmpty }) == ["Aurora", "Bella", "Dover"])
        #expect(try fleet.names(#Predicate { $0.name == "" }) == [""])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Texts are ordered by comparison`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), name = "Bella"
        #expect(try fleet.names(#Predicate { $0.name < "C" }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.name >= name }) == ["Bella", "Castor", "Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Characters that formats of predicates know are characters`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), odd = "%@ * ? \\ ' \" $x"
        fleet.ships[0].name = odd
        try fleet.context.save()
        #expect(try fleet.names(#Predicate { $0.name == odd }) == [odd])
        #expect(try fleet.names(#Predicate { $0.name.contains("* ? \\ '") }) == [odd])
        #expect(try fleet.names(#Predicate { $0.name.starts(with: "%@") }) == [odd])
        #expect(try fleet.names(#Predicate { $0.name.localizedStandardContains("$X") }) == [odd])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Letters of all languages and emoji are compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), names = ["Ægir", "Ωmega", "船", "⛵️ one"]
        for (ship, name) in zip(fleet.ships, names) { ship.name = name }
        try fleet.context.save()
        for name in names { #expect(try fleet.names(#Predicate { $0.name == name }) == [name]) }
        #expect(try fleet.names(#Predicate { $0.name.contains("⛵️") }) == ["⛵️ one"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A captured array, set and range of texts contain a property`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), list = ["Bella", "Dover", "None"], set: Set = ["Aurora", "None"], none: [String] = []
        #expect(try fleet.names(#Predicate { list.contains($0.name) }) == ["Bella", "Dover"])
        #expect(try fleet.names(#Predicate { !list.contains($0.name) }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { set.contains($0.name) }) == ["Aurora"])
        #expect(try fleet.names(#Predicate { none.contains($0.name) }) == [])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A list in the predicate contains a property`(kind: StoreKind) throws {
        let found = try Fleet(kind).names(#Predicate { ["Aurora", "Castor"].contains($0.name) })
        #expect(found == ["Aurora", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A captured list of numbers and one of dates contain a property`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), tonnages = [100, 300], dates: Set = [day(2), day(9)]
        #expect(try fleet.names(#Predicate { tonnages.contains($0.tonnage) }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { dates.contains($0.launched) }) == ["Bella"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A captured list is asked by a condition`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), names = ["Bel", "Cas"]
        #expect(try fleet.names(#Predicate { ship in names.contains { ship.name.contains($0) } }) == ["Bella", "Castor"])
        #expect(try fleet.names(#Predicate { ship in names.allSatisfy { !ship.name.starts(with: $0) } }) == ["Aurora", "Dover"])
    }

    @Test(.forum(742807, "the release notes of iOS 17 on identifiers, dates and addresses"), arguments: StoreKind.allCases)
    func `Identifiers, dates and addresses are compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), code = Fleet.code, page = Fleet.page, date = day(4), codes = [code, UUID()]
        #expect(try fleet.names(#Predicate { $0.code == code }) == ["Bella"])
        #expect(try fleet.names(#Predicate { codes.contains($0.code) }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.page == page }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.page == nil }) == ["Aurora", "Castor", "Dover"])
        #expect(try fleet.names(#Predicate { $0.launched == date }) == ["Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A decimal is compared exactly`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), half = Decimal(string: "0.5")!
        #expect(try fleet.names(#Predicate { $0.price == half }) == ["Bella"])
        #expect(try fleet.names(#Predicate { $0.price > half }) == ["Castor", "Dover"])
    }

    @Test(.forum(742807, "a captured range of dates"), arguments: StoreKind.allCases)
    func `A date lies between two captured ones`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), start = day(2), end = day(3)
        #expect(try fleet.names(#Predicate { $0.launched >= start && $0.launched <= end }) == ["Bella", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `The length of a text is compared`(kind: StoreKind) throws {
        #expect(try Fleet(kind).names(#Predicate { $0.name.count == 5 }) == ["Bella", "Dover"])
    }
}
