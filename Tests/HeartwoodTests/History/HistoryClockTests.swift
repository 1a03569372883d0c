import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Histories whose transactions were dated by wrong clocks.
@Suite struct HistoryClockTests {
    // MARK: Dating

    @Test(arguments: ClockCourse.all)
    func `A transaction's time is its clock's, or at most five seconds later`(_ course: ClockCourse) throws {
        let stack = try course.stack(), entries = try stack.plainHistory().entries
        #expect(entries.map(\.number) == Array(1...Int64(ClockCourse.count)))
        var falls: [UInt64] = []
        for (index, entry) in entries.enumerated() {
            let clock = ClockCourse.rightTime(index) + course.offsets[index]
            #expect((0...HistoryFalls.tolerance).contains(entry.time - clock), "transaction \(entry.number) is off by \(entry.time - clock)")
            guard index > 0 else { continue }
            let last = entries[index - 1].time
            // A fall within the tolerance does not affect the order.
            #expect((entry.time > last) == (clock >= last - HistoryFalls.tolerance))
            if entry.time <= last { falls.append(UInt64(entry.number)) }
        }
        #expect(try stack.store.historyFalls()?.numbers == falls && stack.store.hasFallList() == !falls.isEmpty)
    }

    @Test
    func `While the clock rises, a list of falls changes neither reads nor writes of a save`() throws {
        let plain = try TestStack.tracking(), fallen = try TestStack.tracking(), clock = HandClock()
        for stack in [plain, fallen] { stack.store.useClock(clock) }
        func save(_ stack: TestStack, at time: Double) throws -> (reads: UInt64, bytes: UInt64) {
            clock.now = time
            stack.insert("Group", ["title": "g"])
            let before = (stack.rowReads, stack.bytesAppended)
            try stack.context.save()
            return (stack.rowReads - before.0, stack.bytesAppended - before.1)
        }
        _ = try (save(plain, at: 0), save(fallen, at: 1000), save(plain, at: 1), save(fallen, at: 1))
        #expect(try fallen.store.hasFallList() && !plain.store.hasFallList())
        for time in [2.0, 3, 3, 1] {
            let (a, b) = (try save(plain, at: time), try save(fallen, at: time))
            #expect(a == b, "\(a) \(b)")
        }
        #expect(try fallen.store.historyFalls()?.numbers == [2] && !plain.store.hasFallList())
    }

    @Test
    func `A history that an older version dated by a wrong clock has the right time from the next transaction on`() throws {
        let stack = try TestStack.tracking(), clock = HandClock()
        stack.store.useClock(clock)
        let log = try #require(stack.store.log), table = try #require(try stack.store.history.table(in: log.snapshot().catalog))
        var wrong = 9e8
        for _ in 0..<3 {
            try log.write { transaction in
                let builder = RowBuilder()
                builder.begin(table.layout)
                builder.set(HistoryTable.Field.timestamp.rawValue, double: wrong)
                builder.set(HistoryTable.Field.changes.rawValue, value: try transaction.writeValue { _ in })
                try transaction.put(RowReference(table: table.id, row: transaction.newRow(in: table.id)), body: builder.unsafeBody())
            }
            wrong = wrong.nextUp
        }
        for number in 0..<3 {
            clock.now = 8e8 + Double(number)
            stack.insert("Person", ["name": "A"])
            try stack.context.save()
        }
        #expect(try stack.plainHistory().entries.suffix(3).map(\.time) == [8e8, 8e8 + 1, 8e8 + 2])
        #expect(try stack.numbers(after: 8e8 + 1) == [1, 2, 3, 6] && stack.numbers(after: 9e8) == [2, 3])
    }

    // MARK: Searching

    @Test(arguments: ClockCourse.all)
    func `A date finds exactly the transactions that are later, in the order of their numbers`(_ course: ClockCourse) throws {
        let stack = try course.stack(), plain = try stack.plainHistory()
        for date in plain.dates { #expect(try stack.numbers(after: date) == plain.numbers(after: date), "after \(date)") }
    }

    @Test(arguments: ClockCourse.all)
    func `Deleting before a date deletes exactly the transactions that are earlier`(_ course: ClockCourse) throws {
        for seed in UInt64(1)...3 {
            let stack = try course.stack()
            var plain = try stack.plainHistory(), random = SeededGenerator(seed: seed)
            let dates = plain.dates
            var bounds = Array(dates.shuffled(using: &random).prefix(4))
            if seed > 1 { bounds.sort(by: seed == 2 ? (<) : (>)) }
            for date in bounds {
                #expect(try stack.ask(.deleteHistory(before: Date(timeIntervalSinceReferenceDate: date))) as? Bool == true)
                plain.delete(before: date)
                #expect(try stack.plainHistory() == plain, "seed \(seed), before \(date)")
                for other in dates.shuffled(using: &random).prefix(10) where try stack.numbers(after: other) != plain.numbers(after: other) {
                    Issue.record("seed \(seed): deleted before \(date), asked after \(other)")
                }
            }
        }
    }

    @Test
    func `A token expires once a transaction after it is deleted by date`() throws {
        // The fourth transaction is a year ahead.
        let stack = try #require(ClockCourse.all.first { $0.testDescription == "ahead by a year, one" }).stack()
        let all = try stack.transactions()
        let ahead = all[4], date = all[8].timestamp
        _ = try stack.ask(.deleteHistory(before: date))
        #expect(try stack.transactions().map(\.transactionNumber) == [5, 9, 10, 11, 12])
        for index in [0, 2, 3, 4, 5, 6] {
            let error = #expect(throws: NSError.self, "\(index)") { try stack.transactions(after: all[index].token) }
            #expect(error?.code == NSPersistentHistoryTokenExpiredError)
        }
        for index in 7..<12 { #expect(try stack.transactions(after: all[index].token).map(\.transactionNumber) == Array(Int64(index + 2)..<13)) }
        // By number, it is deleted with its neighbours.
        _ = try stack.ask(.deleteHistory(before: all[9]))
        #expect(try !stack.transactions().contains(ahead) && stack.transactions().map(\.transactionNumber) == [10, 11, 12])
        #expect(try stack.numbers(after: -1e11) == [10, 11, 12])
    }

    @Test
    func `Falls beyond what the list holds leave dates exact`() throws {
        let stack = try TestStack.tracking(), clock = HandClock()
        stack.store.useClock(clock)
        for index in 0..<200 {
            clock.now = 8e8 + Double(index) + (index % 2 == 0 ? 1000 : 0)
            stack.insert("Group", ["title": "g"])
            try stack.context.save()
        }
        var plain = try stack.plainHistory()
        let falls = try #require(try stack.store.historyFalls())
        #expect(falls.numbers == (1...100).suffix(HistoryFalls.countMax).map { UInt64($0 * 2) } && falls.isBeginningMixed)
        let dates = plain.dates
        for date in stride(from: 0, to: dates.count, by: 7).map({ dates[$0] }) {
            #expect(try stack.numbers(after: date) == plain.numbers(after: date), "after \(date)")
        }
        for date in [8e8 + 10.5, 8e8 + 150.5, 8e8 + 1050] {
            _ = try stack.ask(.deleteHistory(before: Date(timeIntervalSinceReferenceDate: date)))
            plain.delete(before: date)
            #expect(try stack.plainHistory() == plain)
        }
        // A fall leaves the list when every transaction before it is deleted.
        clock.now = 9e8
        stack.insert("Group", ["title": "g"])
        try stack.context.save()
        _ = try stack.ask(.deleteHistory(before: Date(timeIntervalSinceReferenceDate: 9e8)))
        for time in [8e8, 9e8, 8e8] {
            clock.now = time
            stack.insert("Group", ["title": "g"])
            try stack.context.save()
        }
        #expect(try stack.plainHistory().entries.map(\.number) == [201, 202, 203, 204])
        #expect(try stack.store.historyFalls()?.numbers == [202, 204] && stack.store.historyFalls()?.isBeginningMixed == false)
    }

    @Test
    func `A search by date reads few rows for each run of rising times`() throws {
        let stack = try TestStack.tracking(), clock = HandClock()
        stack.store.useClock(clock)
        for index in 0..<600 {
            clock.now = 8e8 + Double(index) + (index == 250 ? 1e7 : 0)
            stack.insert("Group", ["title": "g"])
            try stack.context.save()
        }
        let start = stack.rowReads
        #expect(try stack.numbers(after: 8e8 + 597.5) == [251, 599, 600])
        #expect(stack.rowReads - start < 60, "\(stack.rowReads - start)")
    }

    @Test
    func `Transactions of several stores come by their times, and a store's own by their numbers`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestStack.model())
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        let clock = HandClock()
        var stores: [NSPersistentStore] = []
        for number in 0..<2 {
            let store = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: URL(fileURLWithPath: "/memory-\(number)"),
                options: [NSPersistentHistoryTrackingKey: true])
            try #require(store as? RecordLogStore).useClock(clock)
            stores.append(store)
        }
        context.persistentStoreCoordinator = coordinator
        // The store and the time of each transaction.
        let made: [(store: Int, time: Double)] = [(0, 10), (1, 20), (0, 1e6), (1, 30), (0, 40), (1, 50), (1, 1000), (1, 60), (0, 70)]
        for (store, time) in made {
            clock.now = time
            let group = NSEntityDescription.insertNewObject(forEntityName: "Group", into: context)
            group.setValue("g", forKey: "title")
            context.assign(group, to: stores[store])
            try context.save()
        }
        func times(_ date: Double) throws -> [Double] {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date(timeIntervalSinceReferenceDate: date))
            let result = try #require(context.execute(request) as? NSPersistentHistoryResult)
            return try #require(result.result as? [NSPersistentHistoryTransaction]).map(\.timestamp.timeIntervalSinceReferenceDate)
        }
        #expect(try times(0) == [10, 20, 30, 1e6, 40, 50, 1000, 60, 70])
        #expect(try times(45) == [50, 1000, 60, 1e6, 70])
        for store in stores { try coordinator.remove(store) }
    }

    // MARK: The list

    @Test
    func `Verifying a store finds a fall that is not listed, and is content once the history up to there is deleted`() throws {
        let stack = try #require(ClockCourse.all.first { $0.testDescription == "ahead by an hour, twice" }).stack()
        func findings() throws -> [String] { try StoreAudit.findings(in: try #require(stack.store.newestView() as? RecordLogView)) }
        #expect(try findings().isEmpty)
        let log = try #require(stack.store.log)
        try log.write { try $0.setSystemValue(RecordLogSystemRow.historyFalls, nil) }
        let found = try findings()
        #expect(found.count == 2 && found[0].contains("transaction 5 ") && found[1].contains("--delete-before 10"), "\(found)")
        try stack.persistentStore.deleteTransactions(before: 10)
        #expect(try findings().isEmpty)
        let plain = try stack.plainHistory()
        for date in plain.dates { #expect(try stack.numbers(after: date) == plain.numbers(after: date)) }
    }

    @Test
    func `A compacted file, a copy and a salvaged file have the list of falls with the history`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("falls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try #require(ClockCourse.all.first { $0.testDescription == "ahead by a year, twice" }).stack(.recordLog)
        let plain = try stack.plainHistory()
        func check(_ stack: TestStack, _ comment: Comment) throws {
            #expect(try stack.store.historyFalls()?.numbers == [5, 10] && stack.plainHistory() == plain, comment)
            for date in plain.dates { #expect(try stack.numbers(after: date) == plain.numbers(after: date), comment) }
        }
        _ = try stack.store.log?.compact()
        try check(stack, "compacted")
        _ = try stack.coordinator.migratePersistentStore(
            stack.persistentStore, to: folder.appendingPathComponent("copy"), options: [NSPersistentHistoryTrackingKey: true],
            withType: NSRecordLogStoreType)
        try check(stack, "copied")
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        let report = try StoreSalvage.salvage(
            path: folder.appendingPathComponent("copy").path, to: folder.appendingPathComponent("salvaged").path, options: StoredModel.options)
        #expect(report.isComplete)
        try check(try TestStack.tracking(.recordLog, at: folder.appendingPathComponent("salvaged")), "salvaged")
    }

    @Test
    func `Bytes that are no list of falls leave a history that is looked through one by one`() throws {
        let stack = try #require(ClockCourse.all.first { $0.testDescription == "ahead by an hour, twice" }).stack()
        let log = try #require(stack.store.log), table = try #require(try HistoryTable(log.snapshot().catalog)).id
        let whole = try #require(try stack.store.historyFalls()), plain = try stack.plainHistory()
        let dates = plain.entries.map(\.time)
        let bytes = whole.encoded(of: table)
        try #require(!whole.numbers.isEmpty)
        #expect(bytes.withUnsafeBytes { HistoryFalls($0, of: table) } == whole)
        var lists = (0..<bytes.count).map { Array(bytes[..<$0]) }.filter { $0.count % 8 != 4 }
        lists += [bytes + [0], [2] + bytes[1...], bytes[..<1] + [2] + bytes[2...], bytes + bytes[4...]]
        lists.append(bytes + [UInt8](repeating: 255, count: 8 * 64))
        for list in lists {
            try log.write { try $0.setSystemValue(RecordLogSystemRow.historyFalls, list) }
            for date in dates { #expect(try stack.numbers(after: date) == plain.numbers(after: date), "\(list)") }
        }
        // Numbers without a transaction do not trap, and nothing before the date is found.
        var random = SeededGenerator(seed: 11)
        for _ in 0..<40 {
            var list = bytes
            for _ in 0..<3 { list[Int.random(in: 4..<list.count, using: &random)] = UInt8.random(in: 0...255, using: &random) }
            try log.write { try $0.setSystemValue(RecordLogSystemRow.historyFalls, list) }
            let plain = try stack.plainHistory()
            for date in dates { #expect(try Set(stack.numbers(after: date)).isSubset(of: plain.numbers(after: date))) }
            stack.insert("Group", ["title": "later"])
            try stack.context.save()
            _ = try stack.ask(.deleteHistory(before: Date(timeIntervalSinceReferenceDate: 8e8)))
            _ = try stack.ask(.fetchHistory(after: Date.distantPast))
        }
    }

    @Test
    func `A list of another history is ignored, and runs are between falls`() {
        let table = TableID(rawValue: 7), other = TableID(rawValue: 8)
        var falls = HistoryFalls()
        #expect(falls.runs(in: 3..<10) == [.init(range: 3..<10, rises: true)] && falls.runs(in: 3..<3).isEmpty)
        falls.note(5, first: 1)
        falls.note(8, first: 1)
        #expect(falls.runs(in: 3..<10) == [.init(range: 3..<5, rises: true), .init(range: 5..<8, rises: true), .init(range: 8..<10, rises: true)])
        #expect(falls.runs(in: 5..<8) == [.init(range: 5..<8, rises: true)] && falls.runs(in: 9..<20) == [.init(range: 9..<20, rises: true)])
        #expect(falls.encoded(of: table).withUnsafeBytes { HistoryFalls($0, of: other) } == HistoryFalls())
        for number in UInt64(10)..<80 { falls.note(number, first: 1) }
        #expect(falls.runs(in: 1..<18).map(\.rises) == [false, true, true] && falls.runs(in: 1..<18).first?.range == 1..<16)
        #expect(falls.runs(in: 16..<18).map(\.rises) == [true, true])
        #expect(falls.encoded(of: table).withUnsafeBytes { HistoryFalls($0, of: table) } == falls)
        falls.note(90, first: 79)
        #expect(falls.numbers == [90] && !falls.isBeginningMixed)
    }
}
