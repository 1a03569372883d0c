import Foundation
import SwiftData
import Testing

/// Conditions on related models.
@Suite struct PredicateRelationshipQuestions {
    @Test(.byExample("how-to-filter-swiftdata-results-with-predicates"), arguments: StoreKind.allCases)
    func `A property of a related model is compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.home?.name == "Bergen" }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.home?.name != "Bergen" }) == ["Castor", "Dover"])
        #expect(try fleet.names(#Predicate { ($0.home?.depth ?? 0) >= 10 }) == ["Aurora", "Bella", "Castor"])
    }

    @Test(.useYourLoaf("swiftdata-predicates-for-parent-relationships"), arguments: StoreKind.allCases)
    func `A relationship is nil or not`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.home == nil }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.home != nil }) == ["Aurora", "Bella", "Castor"])
    }

    @Test(.useYourLoaf("swiftdata-predicates-for-parent-relationships"), arguments: StoreKind.allCases)
    func `The children of a parent are found by its identifier`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), id = fleet.harbours[0].persistentModelID
        #expect(try fleet.names(#Predicate { $0.home?.persistentModelID == id }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.home?.id == id }) == ["Aurora", "Bella"])
        #expect(try fleet.names(#Predicate { $0.home?.persistentModelID != id }) == ["Castor", "Dover"])
    }

    @Test(.useYourLoaf("swiftdata-predicates-for-parent-relationships"), arguments: StoreKind.allCases)
    func `A captured identifier that is nil finds the models without a parent`(kind: StoreKind) throws {
        let none: PersistentIdentifier? = nil
        #expect(try Fleet(kind).names(#Predicate { $0.home?.persistentModelID == none }) == ["Dover"])
    }

    @Test(.brightDigit("swiftdata-sendable"), arguments: StoreKind.allCases)
    func `A model is found by its own identifier`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), id = fleet.ships[2].persistentModelID
        #expect(try fleet.names(#Predicate { $0.persistentModelID == id }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.persistentModelID != id }) == ["Aurora", "Bella", "Dover"])
    }

    @Test(.useYourLoaf("swiftdata-predicates-for-parent-relationships"), arguments: StoreKind.allCases)
    func `A captured list of identifiers contains a model's`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ids = Set([fleet.ships[0], fleet.ships[3]].map(\.persistentModelID))
        let homes = fleet.harbours.map(\.persistentModelID)
        #expect(try fleet.names(#Predicate { ids.contains($0.persistentModelID) }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { if let home = $0.home { homes.contains(home.persistentModelID) } else { false } }).count == 3)
    }

    @Test(.byExample("how-to-filter-swiftdata-results-with-predicates"), arguments: StoreKind.allCases)
    func `One related model meets a condition`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), age = 40
        #expect(try fleet.names(#Predicate { $0.crew.contains { $0.age > age } }) == ["Bella", "Dover"])
        #expect(try fleet.names(#Predicate { ship in ship.crew.contains(where: { $0.name == "Ann" }) }) == ["Aurora"])
        #expect(try fleet.names(#Predicate { !$0.crew.contains { $0.age > age } }) == ["Aurora", "Castor"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `All related models meet a condition, and so do none`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.crew.allSatisfy { $0.age < 50 } }) == ["Aurora", "Castor"])
        #expect(try fleet.names(#Predicate { !$0.crew.allSatisfy { $0.isHired } }) == ["Dover"])
    }

    @Test(.wwdc(2023, 10196, "trips with accommodations of some hotels"), arguments: StoreKind.allCases)
    func `Related models are filtered by a captured list and counted`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), names = ["Ann", "Cid"]
        #expect(try fleet.names(#Predicate { $0.crew.filter { names.contains($0.name) }.count > 0 }) == ["Aurora", "Bella"])
    }

    @Test(.wwdc(2023, 10196, "trips with accommodations that are not reserved"), arguments: StoreKind.allCases)
    func `Related models are filtered by a Boolean and counted`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.crew.filter { $0.isHired == false }.count > 0 }) == ["Dover"])
        #expect(try fleet.names(#Predicate { $0.crew.filter { $0.age < 50 }.count == 2 }) == ["Aurora"])
        #expect(try fleet.names(#Predicate { $0.crew.filter { $0.age < 50 }.isEmpty }) == ["Bella", "Castor"])
    }

    @Test(.swiftDataPro("relationships that are empty"), arguments: StoreKind.allCases)
    func `A to-many relationship is empty or not`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try fleet.names(#Predicate { $0.crew.isEmpty }) == ["Castor"])
        #expect(try fleet.names(#Predicate { !$0.crew.isEmpty }) == ["Aurora", "Bella", "Dover"])
        #expect(try fleet.names(#Predicate { $0.crew.isEmpty == false }) == ["Aurora", "Bella", "Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `The number of related models is compared`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), number = 1
        #expect(try fleet.names(#Predicate { $0.crew.count > number }) == ["Aurora", "Dover"])
        #expect(try fleet.names(#Predicate { $0.crew.count == 0 }) == ["Castor"])
        #expect(try fleet.names(#Predicate { $0.crew.count * 100 == $0.tonnage }) == [])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A condition on related models uses the model itself`(kind: StoreKind) throws {
        let found = try Fleet(kind).names(#Predicate { ship in ship.crew.contains { $0.age * 4 < ship.tonnage } })
        #expect(found == ["Dover"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `Conditions lead over two relationships`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let sailors = FetchDescriptor<Sailor>(predicate: #Predicate { $0.ship?.home?.name == "Bergen" }, sortBy: [SortDescriptor(\.name)])
        #expect(try ModelContext(fleet.container).fetch(sailors).map(\.name) == ["Ann", "Ben", "Cid"])
        let harbours = FetchDescriptor<Harbour>(predicate: #Predicate { $0.ships.contains { $0.crew.contains { $0.age == 50 } } })
        #expect(try ModelContext(fleet.container).fetch(harbours).map(\.name) == ["Bergen"])
    }

    @Test(.foundation("predicate"), arguments: StoreKind.allCases)
    func `A related model is found by its identifier among many`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), id = try #require(fleet.ships[1].crew.first).persistentModelID
        #expect(try fleet.names(#Predicate { $0.crew.contains { $0.persistentModelID == id } }) == ["Bella"])
    }

    @Test(.wwdc(2024, 10075, "a related model by its identifier"), arguments: StoreKind.allCases)
    func `The models of an owner are found by its identifier`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), id = fleet.ships[0].persistentModelID
        let sailors = FetchDescriptor<Sailor>(predicate: #Predicate { $0.ship?.persistentModelID == id })
        #expect(try ModelContext(fleet.container).fetchCount(sailors) == 2)
    }

    @Test(.byExample("how-to-filter-swiftdata-results-with-predicates"), arguments: StoreKind.allCases)
    func `A deletion takes the same predicates`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        try fleet.context.delete(model: Freighter.self, where: #Predicate { $0.crew.contains { $0.age > 40 } })
        try fleet.context.save()
        #expect(try fleet.names(.true) == ["Aurora", "Castor"])
        #expect(try ModelContext(fleet.container).fetchCount(FetchDescriptor<Sailor>()) == 2)
    }

    @Test(.reference("fetchdescriptor/includependingchanges"), arguments: StoreKind.allCases)
    func `Conditions on relationships see changes that are not saved`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[3].home = fleet.harbours[1]
        fleet.ships[0].crew = []
        func names(_ predicate: Predicate<Freighter>) throws -> [String] {
            try fleet.context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
        }
        #expect(try names(#Predicate { $0.home?.name == "Cork" }) == ["Castor", "Dover"])
        #expect(try names(#Predicate { $0.home == nil }) == [])
        #expect(try names(#Predicate { $0.crew.isEmpty }) == ["Aurora", "Castor"])
        #expect(try names(#Predicate { $0.crew.contains { $0.name == "Ann" } }) == [])
    }
}
