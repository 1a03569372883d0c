import Foundation
import Heartwood
import HeartwoodPostgreSQL
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import HeartwoodTestSupport
import Testing

/// A server that is down, refuses, is full or takes no writes: a typed error, nothing lost, and a context that goes on once the server does.
@Suite(.serialized, .enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct HostileServerTests {
    private static func insertBook(_ context: NSManagedObjectContext, _ title: String) -> NSManagedObject {
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        return book
    }

    private static func titles(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).compactMap { $0.value(forKey: "title") as? String }.sorted()
        }
    }

    /// Saves a change that fails, and saves it again once `mend` has run.
    private func saveFails(
        _ stack: ServerStack, _ codes: [Int], mend: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        stack.context.performAndWait {
            let book = Self.insertBook(stack.context, "kept")
            let error = #expect(throws: NSError.self, sourceLocation: sourceLocation) { try stack.context.save() }
            #expect(
                error?.domain == NSCocoaErrorDomain && codes.contains(error?.code ?? 0), "\(String(describing: error))", sourceLocation: sourceLocation)
            #expect(stack.context.insertedObjects.contains(book) && book.value(forKey: "title") as? String == "kept", sourceLocation: sourceLocation)
        }
        try mend()
        try stack.context.performAndWait { try stack.context.save() }
        #expect(try Self.titles(stack.newContext()).contains("kept"), sourceLocation: sourceLocation)
    }

    @Test
    func `A context keeps its changes while the server is down, and saves them once it is back`() throws {
        let server = try PostgreSQLTestServer(), stack = try ServerStack(ServerModel.make(), at: ServerStack.newURL(socketFolder: server.socketFolder))
        try stack.context.performAndWait {
            _ = Self.insertBook(stack.context, "before")
            try stack.context.save()
        }
        try server.crash()
        let reading = #expect(throws: NSError.self) { try Self.titles(stack.newContext()) }
        #expect(reading?.domain == NSCocoaErrorDomain)
        let adding = #expect(throws: NSError.self) { try ServerStack(ServerModel.make(), at: stack.url) }
        #expect(adding?.code == NSPersistentStoreOpenError)
        try saveFails(stack, [NSPersistentStoreOpenError, NSPersistentStoreSaveError]) { try server.start() }
        #expect(try Self.titles(stack.newContext()) == ["before", "kept"])
        try server.stop()
        try saveFails(stack, [NSPersistentStoreOpenError, NSPersistentStoreSaveError]) { try server.start() }
        #expect(try Self.titles(stack.newContext()) == ["before", "kept", "kept"])
    }

    @Test
    func `A connection that ends between statements is replaced, and a refused one is an error until others are taken again`() throws {
        let proxy = try PostgreSQLProxy(to: try #require(PostgreSQLTestServer.shared.privateSocket))
        let stack = try ServerStack(ServerModel.make(), socketFolder: proxy.folder)
        try stack.context.performAndWait {
            _ = Self.insertBook(stack.context, "before")
            try stack.context.save()
        }
        proxy.cutAll()
        #expect(try Self.titles(stack.newContext()) == ["before"])
        proxy.setRefusing(true)
        proxy.cutAll()
        #expect(throws: NSError.self) { try Self.titles(stack.newContext()) }
        try saveFails(stack, [NSPersistentStoreOpenError, NSPersistentStoreSaveError]) { proxy.setRefusing(false) }
    }

    /// A role without the rights of the store's owner.
    private func withRole(_ stack: ServerStack, _ grants: [String], _ body: (URL) throws -> Void) throws {
        let role = "r_\(UUID().uuidString.prefix(8).lowercased())"
        try stack.sql("CREATE ROLE \(role) LOGIN")
        defer {
            _ = try? stack.sql("DROP OWNED BY \(role)")
            _ = try? stack.sql("DROP ROLE \(role)")
        }
        for grant in grants { try stack.sql(grant.replacing("THE_ROLE", with: role).replacing("SCHEMA_NAME", with: "\"\(stack.schema)\"")) }
        var parts = URLComponents(url: stack.url, resolvingAgainstBaseURL: false) ?? URLComponents()
        parts.queryItems = parts.queryItems?.map { $0.name == "user" ? URLQueryItem(name: "user", value: role) : $0 }
        try body(try #require(parts.url))
    }

    private static let reading = [
        "GRANT USAGE ON SCHEMA SCHEMA_NAME TO THE_ROLE", "GRANT SELECT ON ALL TABLES IN SCHEMA SCHEMA_NAME TO THE_ROLE",
    ]

    private func expectsReading(_ url: URL, save code: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ServerModel.make())
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        #expect(try Self.titles(context) == ["before"], sourceLocation: sourceLocation)
        try context.performAndWait {
            let book = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            book.setValue("mine", forKey: "title")
            let error = #expect(throws: NSError.self, sourceLocation: sourceLocation) { try context.save() }
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
            #expect(book.hasChanges, sourceLocation: sourceLocation)
            context.rollback()
        }
        #expect(try Self.titles(context) == ["before"], sourceLocation: sourceLocation)
    }

    private func filled() throws -> ServerStack {
        let stack = try ServerStack(ServerModel.make())
        try stack.context.performAndWait {
            _ = Self.insertBook(stack.context, "before")
            try stack.context.save()
        }
        return stack
    }

    @Test
    func `A role that may only read reads, and its save is error 513`() throws {
        let stack = try filled()
        try withRole(stack, Self.reading) { try expectsReading($0, save: CocoaError.Code.fileWriteNoPermission.rawValue) }
    }

    @Test
    func `A server that takes no writes is read, and a save is error 513`() throws {
        let stack = try filled()
        let writing = Self.reading + [
            "GRANT ALL ON ALL TABLES IN SCHEMA SCHEMA_NAME TO THE_ROLE", "GRANT ALL ON ALL SEQUENCES IN SCHEMA SCHEMA_NAME TO THE_ROLE",
            "ALTER ROLE THE_ROLE SET default_transaction_read_only = on",
        ]
        try withRole(stack, writing) { url in
            try expectsReading(url, save: CocoaError.Code.fileWriteNoPermission.rawValue)
            let new = ServerStack.url(url, schema: "new-\(UUID().uuidString)")
            let error = #expect(throws: NSError.self) { try ServerStack(ServerModel.make(), at: new) }
            #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue, "\(String(describing: error))")
        }
    }

    @Test(arguments: [
        ("GRANT USAGE ON SCHEMA SCHEMA_NAME TO THE_ROLE", "no right to the tables"), ("ALTER ROLE THE_ROLE CONNECTION LIMIT 0", "no connection"),
    ])
    func `A role that may not read, or not connect, is refused when the store is added`(_ grant: String, _ what: String) throws {
        let stack = try filled()
        try withRole(stack, [grant]) { url in
            let error = #expect(throws: NSError.self) { try ServerStack(ServerModel.make(), at: url) }
            #expect(error?.domain == NSCocoaErrorDomain, "\(what): \(String(describing: error))")
        }
        #expect(try Self.titles(stack.newContext()) == ["before"], "the store is as it was")
    }

    @Test
    func `A right that is taken away is an error, and the context goes on once it is given back`() throws {
        let stack = try filled()
        let rights = Self.reading + [
            "GRANT ALL ON ALL TABLES IN SCHEMA SCHEMA_NAME TO THE_ROLE", "GRANT ALL ON ALL SEQUENCES IN SCHEMA SCHEMA_NAME TO THE_ROLE",
        ]
        try withRole(stack, rights) { url in
            let table = "\"\(stack.schema)\".\"Book\"", role = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == "user" }
            let user = role?.value ?? ""
            let other = NSPersistentStoreCoordinator(managedObjectModel: ServerModel.make())
            try other.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
            defer { for store in other.persistentStores { try? other.remove(store) } }
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = other
            _ = try Self.titles(context)
            try stack.sql("REVOKE INSERT ON \(table) FROM \(user)")
            try context.performAndWait {
                _ = Self.insertBook(context, "kept")
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
                try stack.sql("GRANT INSERT ON \(table) TO \(user)")
                try context.save()
            }
        }
        #expect(try Self.titles(stack.newContext()) == ["before", "kept"])
    }

    // MARK: Other servers

    /// Servers that others wrote, as the answers of this one with other bytes in their places.
    @Test(arguments: [
        (["PostgreSQL 1"], "CockroachDB ", "deferrable keys"), (["PostgreSQL 1"], "PG 11 YB-2.2", "deferrable keys"),
        ((1...9).map { "server_version\0" + "1\($0)" }, "server_version\0" + "10", "older than version 11"),
    ])
    func `A server that lacks what a store needs is refused by its name when the store is added`(
        _ own: [String], _ other: String, _ what: String
    ) throws {
        let proxy = try PostgreSQLProxy(to: try #require(PostgreSQLTestServer.shared.privateSocket))
        proxy.setRewriting { direction, message in
            guard direction == .toClient else { return message }
            return own.reduce(message) { $0.replacing(Array($1.utf8), with: Array(other.utf8)) }
        }
        let error = #expect(throws: NSError.self) { try ServerStack(ServerModel.make(), socketFolder: proxy.folder) }
        #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains(what) == true, "\(String(describing: error))")
    }

    // MARK: A full disk

    /// A small file system in memory, for a tablespace. nil where this process may not make one.
    private final class SmallDisk {
        let path = NSTemporaryDirectory() + "hw-full-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"

        init?() {
            guard getuid() == 0, let user = getpwnam("postgres") ?? getpwnam("nobody"), mkdir(path, 0o700) == 0 else { return nil }
            guard Self.run("mount", "-t", "tmpfs", "-o", "size=3m,uid=\(user.pointee.pw_uid),gid=\(user.pointee.pw_gid),mode=700", "tmpfs", path) else {
                rmdir(path)
                return nil
            }
        }

        func enlarge() -> Bool { Self.run("mount", "-o", "remount,size=64m", path) }

        deinit {
            _ = Self.run("umount", "-l", path)
            rmdir(path)
        }

        private static func run(_ words: String...) -> Bool {
            let process = ChildProcess()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = words
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
    }

    @Test
    func `A save that fills the disk is error 640, and succeeds once there is room`() throws {
        guard let disk = SmallDisk() else { return }
        // A server of its own: one whose disk goes away is good for nothing.
        let server = try PostgreSQLTestServer(), stack = try ServerStack(ServerModel.make(), at: ServerStack.newURL(socketFolder: server.socketFolder))
        try stack.sql("CREATE TABLESPACE small LOCATION '\(disk.path)'")
        try stack.sql("ALTER TABLE \"\(stack.schema)\".\"Author\" SET TABLESPACE small")
        stack.context.performAndWait {
            for _ in 0..<2_000 {
                NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
                    .setValue(String((0..<1_900).map { _ in "abcdefghij".randomElement() ?? "a" }), forKey: "name")
            }
        }
        try saveFails(stack, [CocoaError.Code.fileWriteOutOfSpace.rawValue]) { #expect(disk.enlarge()) }
        #expect(try stack.sql("SELECT count(*) FROM \"\(stack.schema)\".\"Author\"").int64(0, 0) == 2_000)
        try server.stop()
    }
}
