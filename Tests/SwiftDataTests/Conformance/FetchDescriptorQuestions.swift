import Foundation
import SwiftData
import Testing

/// Orders, limits and the other options of a fetch.
@Suite struct FetchDescriptorQuestions {
    private func names(_ fleet: Fleet, _ descriptor: FetchDescriptor<Freighter>) throws -> [String] {
        try ModelContext(fleet.container).fetch(descriptor).map(\.name)
    }

    @Test(.reference("fetchdescriptor/init(predicate:sortby:)"), arguments: StoreKind.allCases)
    func `Without a predicate all models are found`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(Set(try names(fleet, FetchDescriptor())) == ["Aurora", "Bella", "Castor", "Dover"])
    }

    @Test(.reference("fetchdescriptor/predicate"), arguments: StoreKind.allCases)
    func `A predicate is replaced and removed`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        var descriptor = FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage > 350 })
        #expect(try names(fleet, descriptor) == ["Dover"])
        descriptor.predicate = #Predicate { $0.tonnage < 150 }
        #expect(try names(fleet, descriptor) == ["Aurora"])
        descriptor.predicate = nil
        #expect(try names(fleet, descriptor).count == 4)
    }

    @Test(.reference("modelcontext/fetch(_:)"), arguments: StoreKind.allCases)
    func `A fetch that finds nothing gives an empty array`(kind: StoreKind) throws {
        #expect(try names(Fleet(kind), FetchDescriptor(predicate: #Predicate { $0.tonnage > 1000 })) == [])
    }

    @Test(.reference("fetchdescriptor/sortby"), arguments: StoreKind.allCases)
    func `Models are sorted forward and in reverse`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try names(fleet, FetchDescriptor(sortBy: [SortDescriptor(\.speed)])) == ["Castor", "Bella", "Aurora", "Dover"])
        let reverse = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.launched, order: .reverse)])
        #expect(try names(fleet, reverse) == ["Dover", "Castor", "Bella", "Aurora"])
    }

    @Test(.reference("fetchdescriptor/sortby"), arguments: StoreKind.allCases)
    func `Orders are applied one after the other`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.berth.quay), SortDescriptor(\.tonnage, order: .reverse)])
        #expect(try names(fleet, descriptor) == ["Castor", "Aurora", "Dover", "Bella"])
    }

    @Test(.foundation("sortdescriptor/init(_:order:)"), arguments: StoreKind.allCases)
    func `nil stands before values, and after them in reverse`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(try names(fleet, FetchDescriptor(sortBy: [SortDescriptor(\.rank)])) == ["Castor", "Aurora", "Bella", "Dover"])
        let reverse = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.rank, order: .reverse)])
        #expect(try names(fleet, reverse) == ["Dover", "Bella", "Aurora", "Castor"])
    }

    @Test(.foundation("sortdescriptor/init(_:order:)"), arguments: StoreKind.allCases)
    func `Models are sorted by a property of a related model`(kind: StoreKind) throws {
        let descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.home?.name, order: .reverse), SortDescriptor(\.name)])
        #expect(try names(Fleet(kind), descriptor) == ["Castor", "Aurora", "Bella", "Dover"])
    }

    @Test(.foundation("sortdescriptor/init(_:comparator:order:)"), arguments: StoreKind.allCases)
    func `Texts are sorted as the Finder sorts them, unless another comparator is named`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        for (ship, name) in zip(fleet.ships, ["a10", "A2", "b1", "a1"]) { ship.name = name }
        try fleet.context.save()
        let found = try names(fleet, FetchDescriptor(sortBy: [SortDescriptor(\.name)]))
        knownDifference("Off Apple's platforms Foundation's descriptors sort texts by their characters, and a fetch sorts as they do.") {
            #expect(found == ["a1", "A2", "a10", "b1"])
        }
        #expect(try names(fleet, FetchDescriptor(sortBy: [SortDescriptor(\.name, comparator: .lexical)])) == ["A2", "a1", "a10", "b1"])
    }

    @Test(.reference("swiftdataerror/unsupportedsortdescriptor"), arguments: StoreKind.allCases)
    func `An order by a computed property is refused`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(throws: SwiftDataError.unsupportedSortDescriptor) { try names(fleet, FetchDescriptor(sortBy: [SortDescriptor(\.summary)])) }
    }

    @Test(.reference("fetchdescriptor/fetchlimit"), arguments: StoreKind.allCases)
    func `A limit is the most that a fetch finds, and nil is none`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        var descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        #expect(descriptor.fetchLimit == nil)
        for (limit, wanted) in [(1, ["Aurora"]), (3, ["Aurora", "Bella", "Castor"]), (9, ["Aurora", "Bella", "Castor", "Dover"])] {
            descriptor.fetchLimit = limit
            #expect(try names(fleet, descriptor) == wanted)
        }
    }

    @Test(.reference("fetchdescriptor/fetchlimit"), arguments: StoreKind.allCases)
    func `A limit of 0 does not mean all`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        for predicate in [nil, #Predicate<Freighter> { $0.tonnage > 0 }, #Predicate<Freighter> { !$0.marks.contains("none") }] {
            var descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
            descriptor.fetchLimit = 0
            #expect(try names(fleet, descriptor) == [])
            #expect(try fleet.context.fetchIdentifiers(descriptor).isEmpty)
            #expect(try fleet.context.fetchCount(descriptor) == 0)
            #expect(try fleet.context.fetch(descriptor, batchSize: 2).isEmpty)
            try fleet.context.enumerate(descriptor) { Issue.record("\($0.name) is visited") }
        }
    }

    @Test(.wwdc(2025, 291, "the next trip of a widget"), arguments: StoreKind.allCases)
    func `The first of an order is fetched alone`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), now = day(2.5)
        var descriptor = FetchDescriptor(sortBy: [SortDescriptor(\Freighter.launched, order: .forward)])
        descriptor.predicate = #Predicate { $0.launched >= now }
        descriptor.fetchLimit = 1
        #expect(try names(fleet, descriptor) == ["Castor"])
    }

    @Test(.reference("fetchdescriptor/fetchoffset"), arguments: StoreKind.allCases)
    func `An offset skips the first, and pages follow each other`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        var descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        descriptor.fetchOffset = 3
        #expect(try names(fleet, descriptor) == ["Dover"])
        descriptor.fetchLimit = 2
        var pages: [[String]] = []
        for page in 0..<3 {
            descriptor.fetchOffset = page * 2
            pages.append(try names(fleet, descriptor))
        }
        #expect(pages == [["Aurora", "Bella"], ["Castor", "Dover"], []])
    }

    @Test(.reference("fetchdescriptor/includependingchanges"), arguments: StoreKind.allCases)
    func `A fetch matches unsaved changes, unless it is told not to`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[0].tonnage = 900
        fleet.context.delete(fleet.ships[3])
        fleet.context.insert(Freighter("Elin", tonnage: 800, launched: day(5)))
        var descriptor = FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage > 350 }, sortBy: [SortDescriptor(\.name)])
        #expect(descriptor.includePendingChanges)
        #expect(try fleet.context.fetch(descriptor).map(\.name) == ["Aurora", "Elin"])
        #expect(try fleet.context.fetchCount(descriptor) == 2)
        descriptor.includePendingChanges = false
        #expect(try fleet.context.fetch(descriptor).map(\.name) == ["Dover"])
        #expect(try fleet.context.fetchCount(descriptor) == 1)
    }

    @Test(.useYourLoaf("swiftdata-fetching-pending-changes"), arguments: StoreKind.allCases)
    func `Unsaved changes take their place in the order`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[3].name = "Abel"
        fleet.context.insert(Freighter("Boris", tonnage: 1, launched: day(5)))
        let descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        #expect(try fleet.context.fetch(descriptor).map(\.name) == ["Abel", "Aurora", "Bella", "Boris", "Castor"])
    }

    @Test(.useYourLoaf("swiftdata-fetching-pending-changes"), arguments: StoreKind.allCases)
    func `A limit counts unsaved models`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.context.insert(Freighter("Aaron", tonnage: 1, launched: day(5)))
        var descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        descriptor.fetchLimit = 2
        #expect(try fleet.context.fetch(descriptor).map(\.name) == ["Aaron", "Aurora"])
        descriptor.fetchOffset = 1
        #expect(try fleet.context.fetch(descriptor).map(\.name) == ["Aurora", "Bella"])
    }

    @Test(.reference("modelcontext/fetchcount(_:)"), arguments: StoreKind.allCases)
    func `A count needs no models`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), other = ModelContext(fleet.container)
        #expect(try other.fetchCount(FetchDescriptor<Freighter>()) == 4)
        #expect(try other.fetchCount(FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage > 150 })) == 3)
        #expect(other.registeredModel(for: fleet.ships[0].persistentModelID) as Freighter? == nil)
    }

    @Test(.reference("modelcontext/fetchidentifiers(_:)"), arguments: StoreKind.allCases)
    func `Identifiers are those of the models, and lead to them`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), other = ModelContext(fleet.container)
        let ids = try other.fetchIdentifiers(FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage > 250 }))
        #expect(Set(ids) == Set(fleet.ships[2...].map(\.persistentModelID)))
        #expect(other.registeredModel(for: ids[0]) as Freighter? == nil)
        #expect(Set(ids.compactMap { (other.model(for: $0) as? Freighter)?.name }) == ["Castor", "Dover"])
    }

    @Test(.forum(762924, "identifiers are sorted without unsaved changes"), arguments: StoreKind.allCases)
    func `Identifiers come in the order of the descriptor`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        var descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.tonnage, order: .reverse)])
        descriptor.includePendingChanges = false
        #expect(try fleet.context.fetchIdentifiers(descriptor) == fleet.ships.reversed().map(\.persistentModelID))
    }

    @Test(.forum(762924, "the error for an order and unsaved changes"), arguments: StoreKind.allCases)
    func `Sorted identifiers with unsaved changes are refused`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[0].tonnage = 500
        knownDifference("The context sorts them, as it sorts models.") {
            #expect(throws: SwiftDataError.sortingPendingChangesWithIdentifiers) {
                try fleet.context.fetchIdentifiers(FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.tonnage)]))
            }
        }
    }

    @Test(.reference("fetchdescriptor/propertiestofetch"), arguments: StoreKind.allCases)
    func `A property that was not fetched is read when it is used`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        var descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        #expect(descriptor.propertiesToFetch.isEmpty)
        descriptor.propertiesToFetch = [\.name]
        let found = try ModelContext(fleet.container).fetch(descriptor)
        #expect(found.map(\.name) == ["Aurora", "Bella", "Castor", "Dover"])
        #expect(found.map(\.tonnage) == [100, 200, 300, 400])
    }

    @Test(.forum(742597, "the greatest value of one property"), arguments: StoreKind.allCases)
    func `The greatest value of a property comes from a fetch of that property`(kind: StoreKind) throws {
        var descriptor = FetchDescriptor<Freighter>()
        descriptor.propertiesToFetch = [\.tonnage]
        #expect(try ModelContext(Fleet(kind).container).fetch(descriptor).map(\.tonnage).max() == 400)
    }

    @Test(.reference("fetchdescriptor/relationshipkeypathsforprefetching"), arguments: StoreKind.allCases)
    func `Prefetched models are in the context after the fetch`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), other = ModelContext(fleet.container)
        var descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        descriptor.relationshipKeyPathsForPrefetching = [\.home, \.crew]
        let found = try other.fetch(descriptor)
        #expect(found.map { $0.home?.name } == ["Bergen", "Bergen", "Cork", nil])
        #expect(found.map(\.crew.count) == [2, 1, 0, 2])
    }

    @Test(.reference("modelcontext/fetch(_:)"), arguments: StoreKind.allCases)
    func `A context has one model for an identifier, and contexts have their own`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), other = ModelContext(fleet.container)
        let first = FetchDescriptor<Freighter>(predicate: #Predicate { $0.name == "Aurora" })
        #expect(try fleet.context.fetch(first).first === fleet.ships[0])
        let copy = try #require(try other.fetch(first).first)
        #expect(copy !== fleet.ships[0])
        #expect(try other.fetch(first).first === copy)
        #expect(copy.persistentModelID == fleet.ships[0].persistentModelID)
    }

    @Test(.wwdc(2025, 291, "changes of other contexts come with the next fetch"), arguments: StoreKind.allCases)
    func `A fetch brings what other contexts have saved`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), other = ModelContext(fleet.container)
        let descriptor = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])
        let found = try other.fetch(descriptor)
        fleet.ships[0].name = "Zeta"
        #expect(try other.fetch(descriptor).map(\.name) == ["Aurora", "Bella", "Castor", "Dover"])
        try fleet.context.save()
        #expect(try other.fetch(descriptor).map(\.name) == ["Bella", "Castor", "Dover", "Zeta"])
        #expect(found[0].name == "Zeta")
    }

    @Test(.reference("fetchdescriptor/==(_:_:)"))
    func `Descriptors are equal where all their terms are`() {
        let predicate = #Predicate<Freighter> { $0.tonnage > 1 }
        var first = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
        let second = first
        #expect(first == second)
        first.fetchLimit = 1
        #expect(first != second)
    }
}
