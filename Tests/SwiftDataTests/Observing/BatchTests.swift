import Foundation
import HeartwoodSwiftData
import Testing

@Suite struct SwiftDataBatchTests {
    private let store = TestStore()

    private func context(_ count: Int = 10) throws -> ModelContext {
        let context = ModelContext(try store.trips())
        for number in 0..<count {
            let trip = HistoryTrip(name: "\(number)")
            trip.days = number
            trip.tags = ["\(number % 3)"]
            context.insert(trip)
        }
        try context.save()
        return context
    }

    private let byDays = FetchDescriptor<HistoryTrip>(sortBy: [SortDescriptor(\.days)])
    /// The store cannot judge it: tags are kept encoded.
    private let tagged = #Predicate<HistoryTrip> { $0.tags.contains("1") }

    @Test func `a collection in batches is the fetch`() throws {
        let context = try context()
        var descriptor = byDays
        descriptor.predicate = #Predicate { $0.days >= 2 }
        for size in [-1, 1, 3, 100] {
            let found = try context.fetch(descriptor, batchSize: size)
            #expect(found.map(\.days) == Array(2..<10))
            #expect(found.reversed().map(\.days) == Array((2..<10).reversed()))
            #expect(found[5] === found[5])
            #expect(try context.fetchIdentifiers(descriptor, batchSize: size).map(\.self) == context.fetch(descriptor).map(\.persistentModelID))
        }
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 2
        #expect(try context.fetch(descriptor, batchSize: 5).map(\.days) == [3, 4])
        descriptor.predicate = #Predicate { $0.days > 99 }
        #expect(try context.fetch(descriptor, batchSize: 5).isEmpty)
        #expect(try context.fetch(FetchDescriptor<HistoryTrip>(), batchSize: 5).count == 10)
        #expect(try context.fetch(FetchDescriptor(predicate: tagged, sortBy: byDays.sortBy), batchSize: 2).map(\.days) == [1, 4, 7])
    }

    @Test func `a collection stays as it was found`() throws {
        let context = try context()
        let found = try context.fetch(byDays, batchSize: 3)
        let other = ModelContext(context.container)
        try other.delete(model: HistoryTrip.self, where: #Predicate { $0.days == 5 })
        other.insert(HistoryTrip(name: "new"))
        try other.save()
        #expect(found.count == 10)
        #expect(found[9].days == 9)
        // A model that is gone has default values.
        #expect(found[5].name == "")
    }

    @Test func `unsaved changes are refused in batches`() throws {
        let context = try context()
        context.insert(HistoryTrip(name: "new"))
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) { try context.fetch(byDays, batchSize: 3) }
        #expect(throws: SwiftDataError.sortingPendingChangesWithIdentifiers) { try context.fetchIdentifiers(byDays, batchSize: 3) }
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.fetchIdentifiers(FetchDescriptor<HistoryTrip>(), batchSize: 3)
        }
        var descriptor = byDays
        descriptor.includePendingChanges = false
        #expect(try context.fetch(descriptor, batchSize: 3).count == 10)
        #expect(try context.fetchIdentifiers(descriptor, batchSize: 3).count == 10)
    }

    @Test(arguments: [-1, 1, 3, 5000])
    func `an enumeration visits each model in order`(size: Int) throws {
        let context = try context()
        func days(_ descriptor: FetchDescriptor<HistoryTrip>) throws -> [Int] {
            var found: [Int] = []
            try context.enumerate(descriptor, batchSize: size) { found.append($0.days) }
            return found
        }
        #expect(try days(byDays) == Array(0..<10))
        var filtered = FetchDescriptor(predicate: tagged, sortBy: byDays.sortBy)
        #expect(try days(filtered) == [1, 4, 7])
        filtered.fetchOffset = 1
        filtered.fetchLimit = 1
        #expect(try days(filtered) == [4])
        var part = byDays
        part.fetchOffset = 2
        part.fetchLimit = 5
        #expect(try days(part) == [2, 3, 4, 5, 6])
        let unsaved = HistoryTrip(name: "new")
        unsaved.days = 4
        context.insert(unsaved)
        #expect(try days(byDays) == [0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9])
        part = byDays
        part.includePendingChanges = false
        #expect(try days(part) == Array(0..<10))
    }

    @Test func `an error of the block ends the enumeration`() throws {
        struct Stop: Error {}
        var seen = 0
        let context = try context()
        #expect(throws: Stop.self) {
            try context.enumerate(byDays, batchSize: 3) { _ in
                seen += 1
                if seen == 4 { throw Stop() }
            }
        }
        #expect(seen == 4)
    }

    @Test func `a block that leaves changes is refused after its batch`() throws {
        let context = try context()
        var seen = 0
        #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
            try context.enumerate(byDays, batchSize: 3) {
                $0.days += 100
                seen += 1
            }
        }
        #expect(seen == 3)
        context.rollback()
        try context.enumerate(byDays, batchSize: 3, allowEscapingMutations: true) { $0.days += 100 }
        #expect(context.changedModelsArray.count == 10)
        try context.save()
        // A block that saves leaves none.
        try context.enumerate(byDays, batchSize: 3) {
            $0.days -= 100
            try context.save()
        }
        #expect(try context.fetch(byDays).map(\.days) == Array(0..<10))
    }

    @Test func `a save between two batches adds no model, shifts none, and takes deleted ones out`() throws {
        let context = try context(), other = ModelContext(context.container)
        var found: [Int] = []
        try context.enumerate(byDays, batchSize: 2) { trip in
            found.append(trip.days)
            guard found.count == 2 else { return }
            for number in 0..<5 {
                let trip = HistoryTrip(name: "new \(number)")
                trip.days = number
                other.insert(trip)
            }
            try other.delete(model: HistoryTrip.self, where: #Predicate { $0.days == 6 })
            try other.save()
        }
        #expect(found == [0, 1, 2, 3, 4, 5, 7, 8, 9])
    }

    @Test func `models of batches that were visited are let go`() throws {
        let context = try context(3000)
        var models: [Weak] = []
        try context.enumerate(byDays, batchSize: 100) { models.append(Weak(model: $0)) }
        #expect(models.count == 3000)
        #expect(models.count { $0.model != nil } == 0)
    }

    private struct Weak {
        weak var model: HistoryTrip?
    }
}
