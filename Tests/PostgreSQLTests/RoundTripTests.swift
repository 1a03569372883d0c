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

    @Test
    func `A save of large values sends them in parts, and memory has one at a time`() throws {
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
        // A part is full behind 16 MiB: three values, or two and a bit.
        #expect(count.toServer.filter { $0 == "S" }.count > 2)
        let reader = stack.newContext()
        try reader.performAndWait {
            let names = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).compactMap { $0.value(forKey: "name") as? String }
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
