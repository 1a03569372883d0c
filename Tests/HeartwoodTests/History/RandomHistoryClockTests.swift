import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Random clocks, over handles that write one store in turn. A failure prints its seed.
@Suite struct RandomHistoryClockTests {
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["HEARTWOOD_HISTORY_SEED"].flatMap(UInt64.init) { return [one] }
        return Array(1...(environment["HEARTWOOD_HISTORY_RUNS"].flatMap(UInt64.init) ?? 2))
    }()

    /// One of several handles of a store, with a clock of its own.
    private final class Handle {
        let clock = HandClock()
        private let url: URL
        private var coordinator: NSPersistentStoreCoordinator
        private var context: NSManagedObjectContext

        init(_ url: URL) throws {
            self.url = url
            (coordinator, context) = try Self.open(url, clock)
        }

        private static func open(_ url: URL, _ clock: HandClock) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
            let store = try coordinator.addPersistentStore(
                ofType: NSRecordLogStoreType, configurationName: nil, at: url,
                options: [NSPersistentHistoryTrackingKey: true, NSRecordLogDurabilityOption: "none"])
            store.rows?.useClock(clock)
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return (coordinator, context)
        }

        func close() throws { for store in coordinator.persistentStores { try coordinator.remove(store) } }

        func reopen() throws {
            try close()
            (coordinator, context) = try Self.open(url, clock)
        }

        var store: RecordLogStore? { coordinator.persistentStores.first?.rows }

        func save() throws {
            NSEntityDescription.insertNewObject(forEntityName: "Group", into: context).setValue("g", forKey: "title")
            try context.save()
        }

        func ask(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
            request.resultType = request.isDeletion ? .statusOnly : .transactionsOnly
            return (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
        }

        func all() throws -> [NSPersistentHistoryTransaction] { try ask(.fetchHistory(after: nil as NSPersistentHistoryToken?)) }
    }

    @Test(arguments: seeds)
    func `Dates select the transactions that a plain list selects, under random clocks, handles, deletions and compactions`(_ seed: UInt64) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("clocks-\(UUID().uuidString).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        var random = SeededGenerator(seed: seed), plain = PlainHistory(), right = 8e8, count: Int64 = 0
        let handles = [try Handle(url), try Handle(url)]
        defer { for handle in handles { try? handle.close() } }
        let offsets: [Double] = [0, 0, 0, 1, -1, 60, -60, 3600, -3600, 3e7]
        for step in 0..<160 {
            let handle = handles[Int.random(in: 0..<2, using: &random)]
            let comment = Comment(rawValue: "seed \(seed), step \(step)")
            let date = plain.dates.randomElement(using: &random) ?? right
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                _ = try handle.ask(.deleteHistory(before: Date(timeIntervalSinceReferenceDate: min(date, right))))
                plain.delete(before: min(date, right))
            case 1:
                guard let transaction = try handle.all().randomElement(using: &random), Bool.random(using: &random) else { break }
                _ = try handle.ask(.deleteHistory(before: transaction))
                plain.entries.removeAll { $0.number < transaction.transactionNumber }
            case 2: try handle.reopen()
            case 3: _ = try handle.store?.log?.compact()
            default:
                right += Double.random(in: 0..<2, using: &random)
                handle.clock.now = right + (offsets.randomElement(using: &random) ?? 0)
                try handle.save()
                count += 1
                let made = try #require(try handle.all().last, comment)
                let entry = PlainHistory([made]).entries[0]
                #expect(entry.number == count && (0...HistoryFalls.tolerance).contains(entry.time - handle.clock.now), comment)
                plain.entries.append(entry)
            }
            let reader = handles[Int.random(in: 0..<2, using: &random)]
            #expect(try PlainHistory(reader.all()) == plain, comment)
            for date in [date, plain.dates.randomElement(using: &random) ?? right, right - 30] {
                let found = try reader.ask(.fetchHistory(after: Date(timeIntervalSinceReferenceDate: date))).map(\.transactionNumber)
                #expect(found == plain.numbers(after: date), comment)
            }
        }
        for handle in handles {
            try handle.reopen()
            for date in plain.dates {
                let found = try handle.ask(.fetchHistory(after: Date(timeIntervalSinceReferenceDate: date))).map(\.transactionNumber)
                #expect(found == plain.numbers(after: date), "seed \(seed), after \(date)")
            }
        }
    }
}
