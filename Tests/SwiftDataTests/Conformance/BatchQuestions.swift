import Foundation
import SwiftData
import Testing

/// Fetches and enumerations in batches.
@Suite struct BatchQuestions {
    private let byName = FetchDescriptor<Freighter>(sortBy: [SortDescriptor(\.name)])

    @Test(.reference("modelcontext/fetch(_:batchsize:)"), arguments: StoreKind.allCases, [1, 3, 100])
    func `A collection in batches has what the fetch finds`(kind: StoreKind, size: Int) throws {
        let fleet = try Fleet(kind)
        let found = try ModelContext(fleet.container).fetch(byName, batchSize: size)
        #expect(found.map(\.name) == ["Aurora", "Bella", "Castor", "Dover"])
        #expect(found.count == 4 && found.startIndex == 0 && found.endIndex == 4)
    }

    @Test(.reference("fetchresultscollection"), arguments: StoreKind.allCases)
    func `A collection is used by its positions, in any order`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), context = ModelContext(fleet.container)
        let found = try context.fetch(byName, batchSize: 2)
        #expect(found[3].name == "Dover" && found[0].name == "Aurora")
        #expect(found.reversed().map(\.name) == ["Dover", "Castor", "Bella", "Aurora"])
        #expect(found.dropFirst(2).map(\.name) == ["Castor", "Dover"])
        #expect(found.first?.name == "Aurora" && found.last?.name == "Dover")
        let third = found[2]
        #expect(third === found[2] && third.modelContext === context)
    }

    @Test(.reference("modelcontext/fetch(_:batchsize:)"), arguments: StoreKind.allCases)
    func `A collection without models is empty`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), none = FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage > 1000 })
        #expect(try fleet.context.fetch(none, batchSize: 5).isEmpty)
        #expect(try fleet.context.fetchIdentifiers(none, batchSize: 5).isEmpty)
    }

    @Test(.reference("modelcontext/fetch(_:batchsize:)"), arguments: StoreKind.allCases)
    func `A collection keeps to the predicate, the limit and the offset`(kind: StoreKind) throws {
        var descriptor = byName
        descriptor.predicate = #Predicate { $0.tonnage > 150 }
        (descriptor.fetchOffset, descriptor.fetchLimit) = (1, 1)
        #expect(try Fleet(kind).context.fetch(descriptor, batchSize: 2).map(\.name) == ["Castor"])
    }

    @Test(.reference("modelcontext/fetchidentifiers(_:batchsize:)"), arguments: StoreKind.allCases)
    func `Identifiers come in batches too`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let found = try fleet.context.fetchIdentifiers(byName, batchSize: 3)
        #expect(Array(found) == fleet.ships.map(\.persistentModelID))
    }

    @Test(.reference("swiftdataerror/includependingchangeswithbatchsize"), arguments: StoreKind.allCases)
    func `Batches and unsaved changes do not go together`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[0].tonnage = 1
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) { try fleet.context.fetch(byName, batchSize: 2) }
        var descriptor = byName
        descriptor.includePendingChanges = false
        #expect(try fleet.context.fetch(descriptor, batchSize: 2).count == 4)
    }

    @Test(.reference("swiftdataerror/sortingpendingchangeswithidentifiers"), arguments: StoreKind.allCases)
    func `Sorted identifiers in batches and unsaved changes do not go together`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        fleet.ships[0].tonnage = 1
        #expect(throws: SwiftDataError.sortingPendingChangesWithIdentifiers) { try fleet.context.fetchIdentifiers(byName, batchSize: 2) }
    }

    @Test(.wwdc(2023, 10196, "enumerate with a predicate and an order"), arguments: StoreKind.allCases, [1, 2, 5000])
    func `An enumeration visits each model that the descriptor chooses, in its order`(kind: StoreKind, size: Int) throws {
        let fleet = try Fleet(kind)
        let descriptor = FetchDescriptor<Freighter>(
            predicate: #Predicate { $0.crew.filter { $0.isHired }.count > 0 }, sortBy: [SortDescriptor(\.launched, order: .reverse)])
        var seen: [String] = []
        try ModelContext(fleet.container).enumerate(descriptor, batchSize: size) { seen.append($0.name) }
        #expect(seen == ["Dover", "Bella", "Aurora"])
        seen = []
        try fleet.context.enumerate(descriptor) { seen.append($0.name) }
        #expect(seen == ["Dover", "Bella", "Aurora"])
    }

    @Test(.reference("modelcontext/enumerate(_:batchsize:allowescapingmutations:block:)"), arguments: StoreKind.allCases)
    func `The error of a block ends the enumeration`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        var count = 0
        #expect(throws: CocoaError.self) {
            try fleet.context.enumerate(byName) { _ in
                count += 1
                if count == 2 { throw CocoaError(.featureUnsupported) }
            }
        }
        #expect(count == 2)
    }

    @Test(.wwdc(2023, 10196, "enumerate throws where the context is dirty"), arguments: StoreKind.allCases)
    func `An enumeration whose block leaves changes throws`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        #expect(throws: SwiftDataError.self) { try fleet.context.enumerate(byName, batchSize: 2) { $0.tonnage += 1 } }
    }

    @Test(.wwdc(2023, 10196, "allowEscapingMutations"), arguments: StoreKind.allCases)
    func `An enumeration may leave changes where it is allowed to`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        try fleet.context.enumerate(byName, batchSize: 2, allowEscapingMutations: true) { $0.tonnage += 1 }
        #expect(fleet.context.hasChanges)
        try fleet.context.save()
        #expect(try ModelContext(fleet.container).fetch(byName).map(\.tonnage) == [101, 201, 301, 401])
    }

    @Test(.wwdc(2023, 10196, "the mutation guard looks for trapped changes"), arguments: StoreKind.allCases)
    func `An enumeration whose block saves its changes goes on`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        try fleet.context.enumerate(byName, batchSize: 1) {
            $0.tonnage = 7
            try fleet.context.save()
        }
        #expect(try ModelContext(fleet.container).fetchCount(FetchDescriptor<Freighter>(predicate: #Predicate { $0.tonnage == 7 })) == 4)
    }
}
