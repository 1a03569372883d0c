import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// A day's saves under automatic compaction: files, mappings, memory and disk stay within bounds.
///
/// `HEARTWOOD_DAY_OF_SAVES=60000` in the environment sets their number, with 4,000 rows.
@Suite(.serialized) struct ManySavesTests {
    private static let wanted = ProcessInfo.processInfo.environment["HEARTWOOD_DAY_OF_SAVES"].flatMap { Int($0) }
    private static let saves = wanted ?? 1500
    private static let rows = wanted == nil ? 400 : 4000
    private static let transfersOfThread = wanted.map { $0 / 4 } ?? 300
    /// Chosen so that compactions follow each other quickly.
    private static var options: [String: Any] { [NSRecordLogCompactionMinimumBytesOption: wanted == nil ? 200_000 : 4 << 20] }

    private static func stack() throws -> TestStack {
        let stack = try TestStack(.recordLog, options: options)
        for index in 0..<rows { stack.insert("Person", ["name": String(repeating: "name ", count: 60), "age": 1000, "email": "\(index)"]) }
        try stack.context.save()
        stack.context.reset()
        return stack
    }

    /// The highest number of each of the process's resources for a store.
    private struct Most {
        var descriptors = 0, mapped = 0, privateKibibytes = 0, fileBytes: UInt64 = 0

        mutating func look(_ url: URL) {
            descriptors = max(descriptors, ProcessFiles.descriptors(of: url.path) ?? 0)
            mapped = max(mapped, ProcessFiles.mapped(of: url.path) ?? 0)
            privateKibibytes = max(privateKibibytes, ProcessMemory.kibibytes("RssAnon:") ?? 0)
            fileBytes = max(fileBytes, (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? UInt64) ?? 0)
        }
    }

    private static func context(_ stack: TestStack) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return context
    }

    @Test
    func `One context that saves one object at a time keeps a few files open and mapped during compactions`() throws {
        let stack = try Self.stack()
        let log = try #require(stack.store.log)
        let context = Self.context(stack)
        nonisolated(unsafe) var persons: [NSManagedObject] = []
        try context.performAndWait { persons = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) }
        var most = Most(), compactions = 0
        var file = log.snapshot().file
        let before = ProcessMemory.kibibytes("RssAnon:") ?? 0
        for save in 0..<Self.saves {
            try context.performAndWait {
                persons[save % persons.count].setValue(save, forKey: "age")
                try context.save()
            }
            guard save % 50 == 0 else { continue }
            most.look(stack.url)
            if log.snapshot().file !== file { (file, compactions) = (log.snapshot().file, compactions + 1) }
        }
        print("one context: \(Self.saves) saves, at least \(compactions) compactions, \(most), private memory before \(before) KiB")
        #expect(compactions >= 2)
        // The store's file, one that a compaction has just replaced, and one that it writes.
        #expect(most.descriptors <= 4 && most.mapped <= 4)
        #expect(most.fileBytes < 16 << 20)
        if Self.wanted != nil { #expect(most.privateKibibytes < before + 100 << 10) }
        context.performAndWait {
            for (index, person) in persons.enumerated() {
                let last = (0..<Self.saves).last { $0 % persons.count == index }
                #expect(person.value(forKey: "age") as? Int == last ?? 1000)
            }
        }
    }

    @Test
    func `Four contexts that transfer between accounts while compactions run keep a few files, and no sum is lost`() throws {
        let stack = try Self.stack()
        let log = try #require(stack.store.log)
        let contexts = (0..<4).map { _ in Self.context(stack) }
        weak let first: LogFile? = log.snapshot().file
        let threads = DispatchGroup()
        for (number, context) in contexts.enumerated() {
            threads.enter()
            Thread.detachNewThread {
                defer { threads.leave() }
                var random = SeededGenerator(seed: UInt64(number + 1))
                for _ in 0..<Self.transfersOfThread {
                    context.performAndWait {
                        // Each thread has its own accounts, so no thread overwrites another's sum.
                        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                        let mine = (0..<Self.rows / 4).randomElement(using: &random)! * 4 + number
                        let other = (0..<Self.rows / 4).randomElement(using: &random)! * 4 + number
                        request.predicate = NSPredicate(format: "email IN %@", ["\(mine)", "\(other)"])
                        guard let pair = try? context.fetch(request), pair.count == 2 else { return }
                        let amount = Int.random(in: 1...10, using: &random)
                        pair[0].setValue((pair[0].value(forKey: "age") as? Int ?? 0) - amount, forKey: "age")
                        pair[1].setValue((pair[1].value(forKey: "age") as? Int ?? 0) + amount, forKey: "age")
                        do { try context.save() } catch { Issue.record(error) }
                    }
                }
            }
        }
        var most = Most()
        while threads.wait(timeout: .now() + .milliseconds(20)) == .timedOut { most.look(stack.url) }
        print("four contexts: \(4 * Self.transfersOfThread) transfers, \(most)")
        #expect(first !== log.snapshot().file)
        #expect(most.descriptors <= 12 && most.mapped <= 12)
        let reader = stack.newContext()
        let all = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        #expect(all.reduce(0) { $0 + ($1.value(forKey: "age") as? Int ?? 0) } == Self.rows * 1000)
        // A compaction may still be running.
        var open = Int.max
        for _ in 0..<200 where open > 1 {
            for context in contexts { context.performAndWait {} }
            for context in [reader, stack.context] { context.processPendingChanges() }
            guard let count = ProcessFiles.descriptors(of: stack.url.path) else { return }
            open = count
            // The system counts descriptors, and tells no change.
            if open > 1 { usleep(20_000) }
        }
        #expect(first == nil && open == 1, "\(ProcessFiles.open(stack.url.path) ?? [])")
    }
}
