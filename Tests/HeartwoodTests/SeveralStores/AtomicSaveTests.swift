import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// A save over two stores is in both or in neither.
@Suite struct AtomicSaveTests {
    private static let mixes: [(StoreKind, StoreKind)] = [
        (.recordLog, .recordLog), (.inMemory, .inMemory), (.recordLog, .inMemory), (.inMemory, .recordLog),
    ]

    private func sequences(_ pair: StorePair) -> [UInt64] {
        pair.coordinator.persistentStores.compactMap { ($0 as? RecordLogStore)?.log?.snapshot().sequence }
    }

    private func refusal(_ context: NSManagedObjectContext) -> NSError? {
        do {
            try context.save()
            return nil
        } catch { return error as NSError }
    }

    @Test(arguments: 0..<4)
    func `A conflict in one store leaves the other as it was`(mix: Int) throws {
        let pair = try StorePair(Self.mixes[mix])
        let objects = [pair.first, pair.second].map { pair.insert("Book", ["title": "old"], into: $0) }
        try pair.context.save()
        for loser in 0..<2 {
            // Another context changes one of the two meanwhile.
            let other = pair.anew()
            other.object(with: objects[loser].objectID).setValue("theirs \(loser)", forKey: "title")
            try other.save()
            for object in objects { object.setValue("ours \(loser)", forKey: "title") }
            let before = sequences(pair)
            #expect(refusal(pair.context)?.code == NSManagedObjectMergeError)
            #expect(sequences(pair) == before && objects.allSatisfy(\.hasChanges))
            // The policy resolves it, and both are saved together.
            pair.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try pair.context.save()
            #expect(sequences(pair) == before.map { $0 + 1 })
            let reader = pair.anew()
            #expect(objects.allSatisfy { reader.object(with: $0.objectID).value(forKey: "title") as? String == "ours \(loser)" })
            pair.context.mergePolicy = NSMergePolicy.error
        }
    }

    @Test(arguments: 0..<4)
    func `A taken value in one store leaves the other as it was`(mix: Int) throws {
        let pair = try StorePair(Self.mixes[mix])
        for (store, code) in [(pair.first, "a"), (pair.second, "b")] { pair.insert("Book", ["title": "old", "code": code], into: store) }
        try pair.context.save()
        // Unique values of one store do not affect the other.
        let context = pair.anew()
        pair.insert("Book", ["title": "new", "code": "b"], into: pair.first, in: context)
        let taken = pair.insert("Book", ["title": "new", "code": "b"], into: pair.second, in: context)
        let before = sequences(pair)
        #expect(refusal(context)?.code == NSManagedObjectConstraintMergeError)
        #expect(sequences(pair) == before && taken.objectID.isTemporaryID)
        #expect(try pair.titles(of: "Book", in: pair.first) == ["old"] && pair.titles(of: "Book", in: pair.second) == ["old"])
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(try pair.titles(of: "Book", in: pair.first) == ["new", "old"] && pair.titles(of: "Book", in: pair.second) == ["new"])
    }

    @Test
    func `A read-only store among them leaves the other as it was`() throws {
        let pair = try StorePair(.recordLog)
        pair.insert("Book", ["title": "a"])
        pair.insert("Book", ["title": "b"], into: pair.second)
        try pair.context.save()
        for store in pair.coordinator.persistentStores { try pair.coordinator.remove(store) }
        let again = try StorePair(
            (.recordLog, .recordLog), at: pair.urls, options: ([:], [NSReadOnlyPersistentStoreOption: true]))
        for book in try again.context.fetch(again.request("Book")) { book.setValue("changed", forKey: "title") }
        let error = refusal(again.context)
        #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(try again.titles(again.request("Book", sort: ["title"]), in: again.anew()) == ["a", "b"])
        // The pair deletes its files.
        withExtendedLifetime(pair) {}
    }

    @Test
    func `A save over two stores takes three syncs, and over one store one`() throws {
        let full = [NSRecordLogDurabilityOption: "full"]
        let pair = try StorePair((.recordLog, .recordLog), options: (full, full))
        func syncs() -> UInt64 {
            pair.coordinator.persistentStores.reduce(0) { $0 + (($1 as? RecordLogStore)?.log?.statistics.syncs ?? 0) }
        }
        let books = [pair.first, pair.second].map { pair.insert("Book", ["title": "new"], into: $0) }
        var before = syncs()
        try pair.context.save()
        #expect(syncs() - before == 3)
        before = syncs()
        books[1].setValue("changed", forKey: "title")
        try pair.context.save()
        #expect(syncs() - before == 1)
    }

    @Test(arguments: 0..<4)
    func `Both stores have one save's author and IDs`(mix: Int) throws {
        let pair = try StorePair(Self.mixes[mix])
        pair.context.transactionAuthor = "tests"
        let books = [pair.first, pair.second].map { pair.insert("Book", ["title": "b"], into: $0) }
        try pair.context.save()
        #expect(!pair.context.hasChanges && books.allSatisfy { !$0.objectID.isTemporaryID && !$0.hasChanges })
        for case let store as RecordLogStore in pair.coordinator.persistentStores {
            let log = try #require(store.log)
            #expect(try log.commit(log.snapshot().sequence)?.author == "tests")
        }
    }

    /// Two contexts over two stores beside plain rows: saved rows are in both stores, refused ones in neither.
    @Test(arguments: 0..<4)
    func `Random saves agree with a plain model`(mix: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let pair = try StorePair(Self.mixes[mix])
        let contexts = [pair.context, pair.anew()], stores = [pair.first, pair.second]
        for context in contexts { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        /// The title and the store's index, by code.
        var saved: [String: (title: String?, store: Int)] = [:]
        for step in 0..<120 {
            let context = contexts[Int.random(in: 0..<2, using: &random)]
            var next = saved
            context.refreshAllObjects()
            for change in 0..<Int.random(in: 1...4, using: &random) {
                let title = ValueDomain.short.draw(attribute: .stringAttributeType, from: "t\(step).\(change)", &random) as? String
                let known = next.keys.sorted().randomElement(using: &random)
                switch (known, Int.random(in: 0..<6, using: &random)) {
                case (let code?, 0):
                    let found = try context.fetch(pair.request("Book", "code == %@", code))
                    #expect(found.count == 1, "seed \(seed), step \(step)")
                    for book in found { context.delete(book) }
                    next[code] = nil
                case (let code?, 1...3):
                    for book in try context.fetch(pair.request("Book", "code == %@", code)) { book.setValue(title, forKey: "title") }
                    next[code]?.title = title
                default:
                    let store = Int.random(in: 0..<2, using: &random)
                    pair.insert("Book", ["code": "c\(step).\(change)"], into: stores[store], in: context).setValue(title, forKey: "title")
                    next["c\(step).\(change)"] = (title, store)
                }
            }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: context.rollback()
            case 1:
                // A relationship between the stores refuses the whole save.
                let author = pair.insert("Author", ["title": "x"], into: pair.first, in: context)
                pair.insert("Book", ["title": "x", "author": author], into: pair.second, in: context)
                #expect(refusal(context)?.code == NSManagedObjectExternalRelationshipError, "seed \(seed), step \(step)")
                context.rollback()
            default:
                try context.save()
                saved = next
            }
            guard step % 6 == 0 else { continue }
            let reader = pair.anew()
            let found = try reader.fetch(pair.request("Book"))
            #expect(found.count == saved.count, "seed \(seed), step \(step)")
            for book in found {
                let wanted = saved[book.value(forKey: "code") as? String ?? ""], store = wanted.map { stores[$0.store] }
                #expect(
                    book.value(forKey: "title") as? String == wanted?.title && book.objectID.persistentStore === store,
                    "seed \(seed), step \(step)")
            }
        }
    }
}
