import Foundation
import Heartwood
import HeartwoodPostgreSQLTestSupport
import Testing

/// What the store asks the server, counted between both.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.shared.privateSocket != nil, "There is no private PostgreSQL server to stand before."))
struct RoundTripTests {
    private let proxy: PostgreSQLProxy
    private let stack: ServerStack
    private let isRefused = DispatchSemaphore(value: 0)

    init() throws {
        proxy = try PostgreSQLProxy(to: try #require(PostgreSQLTestServer.shared.privateSocket))
        // A notice follows a save from another thread, and would be counted with what comes next. A server that refuses one gets no further ones.
        proxy.setRewriting { [isRefused] _, message in
            let text = String(decoding: message, as: UTF8.self)
            if text.contains("no_notify") { isRefused.signal() }
            return text.contains("pg_notify") ? Array(text.replacing("pg_notify", with: "no_notify").utf8) : message
        }
        stack = try ServerStack(ServerModel.make(), socketFolder: proxy.folder)
    }

    /// A hundred books of as many authors.
    private func fill() throws {
        try stack.context.performAndWait {
            for number in 0..<100 {
                let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
                author.setValue("Author \(number)", forKey: "name")
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context)
                book.setValuesForKeys(["title": "Title \(number)", "id": number, "author": author])
            }
            try stack.context.save()
        }
        isRefused.wait()
        // The first read connects.
        let reader = stack.newContext()
        _ = try reader.performAndWait { try reader.count(for: Self.books()) }
    }

    private static func books() -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Book") }

    @Test
    func `A hundred books and their authors take two round trips, with prefetching or without`() throws {
        try fill()
        for paths in [nil, ["author"]] as [[String]?] {
            let context = stack.newContext()
            let count = try proxy.count {
                try context.performAndWait {
                    let request = Self.books()
                    request.relationshipKeyPathsForPrefetching = paths
                    let names = try context.fetch(request).map { $0.value(forKeyPath: "author.name") as? String }
                    #expect(Set(names).count == 100 && !names.contains(nil))
                }
            }
            #expect(count.roundTrips == 2, "prefetched: \(paths ?? []), messages: \(count.toServer)")
        }
    }

    @Test
    func `A hundred objects, the members of a relationship of each, and their rows take at most four round trips`() throws {
        try fill()
        let context = stack.newContext()
        let count = try proxy.count {
            try context.performAndWait {
                let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
                let titles = authors.flatMap { ($0.value(forKey: "books") as? Set<NSManagedObject> ?? []).map { $0.value(forKey: "title") as? String } }
                #expect(Set(titles).count == 100)
            }
        }
        #expect(count.roundTrips <= 4)
    }

    @Test
    func `A save takes two round trips whatever the number of objects, and what it saved is not read again`() throws {
        try fill()
        for number in [1, 100] {
            let context = stack.newContext()
            try context.performAndWait {
                let books = try context.fetch(Self.books()).prefix(number)
                for book in books { book.setValue(number, forKey: "pages") }
                let count = try proxy.count {
                    try context.save()
                    for book in books { #expect(book.value(forKey: "pages") as? Int == number) }
                }
                #expect(count.roundTrips == 2)
            }
        }
    }

    /// Saves new books.
    /// - Returns: the round trips, and the error.
    private func save(_ numbers: [Int], _ policy: NSMergePolicy) -> (trips: Int, error: NSError?) {
        let context = stack.newContext()
        return context.performAndWait {
            context.mergePolicy = policy
            for number in numbers {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValuesForKeys(["id": number, "title": "New \(number)"])
            }
            var failure: NSError?
            let count = proxy.count { do { try context.save() } catch { failure = error as NSError } }
            return (count.roundTrips, failure)
        }
    }

    @Test
    func `New objects with unique values take one round trip, and more where the merge policy expects conflicts or meets one`() throws {
        try fill()
        var saved = save([1000, 1001], .error)
        #expect(saved.trips == 1 && saved.error == nil)
        saved = save([1002, 1003], .mergeByPropertyObjectTrump)
        #expect(saved.trips == 2 && saved.error == nil)
        for numbers in [[2000, 1000], [2000, 2000], [5, 1001, 2000, 2000]] {
            saved = save(numbers, .error)
            let conflicts = saved.error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
            #expect(saved.error?.code == NSManagedObjectConstraintMergeError, "\(numbers)")
            let stored = numbers.count { $0 < 2000 }
            #expect(conflicts.count == stored + (numbers.count { $0 == 2000 } > 1 ? 1 : 0), "\(numbers)")
            // The save, the save that looks for the holders, a rollback of each, and the rows of the holders.
            #expect(saved.trips <= 4 + stored, "\(numbers)")
        }
        #expect(save([1000, 3000], .mergeByPropertyObjectTrump).error == nil)
        let reader = stack.newContext()
        try reader.performAndWait {
            let request = Self.books()
            request.predicate = NSPredicate(format: "id >= 1000")
            let books = try reader.fetch(request).compactMap { $0.value(forKey: "id") as? Int }
            #expect(books.sorted() == [1000, 1001, 1002, 1003, 3000])
        }
    }

    @Test
    func `A save of large values sends each as soon as it is encoded`() throws {
        try fill()
        let text = String(repeating: "a", count: 8 << 20)
        let count = try proxy.count {
            try stack.context.performAndWait {
                for number in 0..<6 {
                    let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
                    author.setValue("\(number)\(text)", forKey: "name")
                }
                try stack.context.save()
            }
        }
        // A statement is full behind one value.
        #expect(count.toServer.count { $0 == "B" } > 6, "\(count)")
        let reader = stack.newContext()
        try reader.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.predicate = NSPredicate(format: "name ENDSWITH 'aa'")
            let names = try reader.fetch(request).compactMap { $0.value(forKey: "name") as? String }
            #expect(names.sorted() == (0..<6).map { "\($0)\(text)" })
        }
    }

    @Test
    func `A fetch that finds one object by its key takes one round trip`() throws {
        try fill()
        let context = stack.newContext()
        let count = try proxy.count {
            try context.performAndWait {
                let request = Self.books()
                request.predicate = NSPredicate(format: "id == 42")
                let found = try context.fetch(request).first?.value(forKey: "title") as? String
                #expect(found == "Title 42")
            }
        }
        #expect(count.roundTrips == 1)
    }

    @Test
    func `A context goes on when the server is back, and a read is repeated by itself`() throws {
        try fill()
        let context = stack.newContext()
        try context.performAndWait {
            proxy.cutAll()
            let before = try context.count(for: Self.books())
            #expect(before == 100)
            proxy.setRefusing(true)
            proxy.cutAll()
            let error = #expect(throws: NSError.self) { try context.count(for: Self.books()) }
            #expect(error?.domain == NSCocoaErrorDomain)
            proxy.setRefusing(false)
            let after = try context.count(for: Self.books())
            #expect(after == 100)
        }
    }
}
