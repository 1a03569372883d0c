import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// A program with SQLite that owns the store and writes to it while the stack reads.
@Suite(.enabled(if: CoreDataStoreFiles.canBeMade, CoreDataStoreFiles.needPython)) struct SQLiteOwnerTests {
    /// Keeps the sum of the keepers' ages at 100, and gives each animal of a commit the same keeper, until a file says to stop.
    private static let owner = """
        import os, sqlite3, sys, time
        c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
        c.execute('PRAGMA journal_mode = ' + sys.argv[2])
        c.execute('PRAGMA wal_autocheckpoint = 20')
        print('ready', flush=True)
        end, i = time.time() + 60, 0
        while time.time() < end and not os.path.exists(sys.argv[3]):
            i += 1
            c.execute('BEGIN IMMEDIATE')
            c.execute('UPDATE ZKEEPER SET ZAGE = CASE Z_PK WHEN 1 THEN ? WHEN 2 THEN ? ELSE 0 END, Z_OPT = Z_OPT + 1', [i % 1000, 100 - i % 1000])
            c.execute('UPDATE ZANIMAL SET ZKEEPER = ?, Z_OPT = Z_OPT + 1', [1 + i % 3])
            if i % 3 == 0: c.execute('INSERT INTO ZNOTE (Z_ENT, Z_OPT, ZTEXT) VALUES (5, 1, ?), (5, 1, ?)', ['x' * (i % 5000), 'y'])
            if i % 50 == 0: c.execute('DELETE FROM ZNOTE WHERE Z_PK > 10')
            c.execute('ROLLBACK' if i % 7 == 0 else 'COMMIT')
            # A pause, in which a reader finds the file free.
            time.sleep(0.002)
        c.close()
        """

    @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
    func `Beside a writer each fetch sees one commit, or the error says to try again`(mode: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, "UPDATE ZKEEPER SET ZAGE = CASE Z_PK WHEN 1 THEN 100 ELSE 0 END; UPDATE ZANIMAL SET ZKEEPER = 1;")
            let context = try zoo.context(), process = ChildProcess(), output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let stop = folder.appendingPathComponent("stop")
            process.arguments = ["python3", "-B", "-c", Self.owner, zoo.file.path, mode, stop.path]
            process.standardOutput = output
            try process.run()
            _ = output.fileHandleForReading.availableData
            var answers = 0, retries = 0, states: Set<Int> = []
            while process.isRunning {
                // As many rounds as a slow machine needs, and enough of them on a fast one.
                if answers > 3, states.count > 1, answers + retries >= 16 { try Data().write(to: stop) }
                do {
                    context.reset()
                    let ages = try context.fetch(Self.request("Keeper")).compactMap { $0.value(forKey: "age") as? Int }
                    #expect(ages.count == 4 && ages.reduce(0, +) == 100, "\(ages)")
                    states.insert(ages[0])
                    let request = Self.request("Animal")
                    request.relationshipKeyPathsForPrefetching = ["keeper"]
                    let keepers = Set(try context.fetch(request).compactMap { ($0.value(forKey: "keeper") as? NSManagedObject)?.objectID })
                    #expect(keepers.count == 1)
                    #expect(try context.count(for: Self.request("Animal", "name != nil")) == 4)
                    if let failure = context.readingFailure { throw failure }
                    answers += 1
                } catch let error as NSError {
                    #expect(error.code == NSPersistentStoreTimeoutError, "\(error)")
                    context.readingFailure = nil
                    retries += 1
                }
            }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0 && answers > 3 && states.count > 1, "\(answers) answers, \(retries) retries")
            context.reset()
            #expect(try context.fetch(Self.request("Keeper")).compactMap { $0.value(forKey: "age") as? Int }.reduce(0, +) == 100)
            // The owner's last connection may have left its log, but nothing is ours.
            let rest = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting(["Zoo.sqlite", "stop"])
            #expect(rest.isSubset(of: ["Zoo.sqlite-wal", "Zoo.sqlite-shm", "Zoo.sqlite-journal"]))
        }
    }

    private static func request(_ entity: String, _ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        return request
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `A store in log mode whose folder and files only allow reading is read, and nothing is created`(mode: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, "PRAGMA journal_mode = \(mode);")
            let manager = FileManager.default
            try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: zoo.file.path)
            try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
            defer { try? manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path) }
            let context = try zoo.context()
            #expect(try context.count(for: Self.request("Keeper")) == 4)
            #expect(try context.fetch(Self.request("Keeper", "ANY animals.name == 'Rex'")).count == 1)
            #expect(try manager.contentsOfDirectory(atPath: folder.path) == ["Zoo.sqlite"])
        }
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `The owner's commits are reported to a store that asks for it, and contexts that merge by themselves have them`(mode: String) throws {
        try CoreDataStoreFiles.withFolder { folder in
            let zoo = try Zoo(in: folder, "PRAGMA journal_mode = \(mode);")
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: zoo.model)
            let store = try coordinator.addPersistentStore(
                type: .sqlite, configuration: nil, at: zoo.file, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.automaticallyMergesChangesFromParent = true
            let ann = try context.performAndWait {
                let found = try #require(try context.fetch(Self.request("Keeper", "name == 'Ann'")).first)
                #expect(found.value(forKey: "age") as? Int == 30)
                return found.objectID
            }
            let received = Heard([.NSPersistentStoreRemoteChange], of: coordinator)
            // Longer than the pause between two looks at the file.
            Thread.sleep(forTimeInterval: 0.6)
            #expect(received.all.isEmpty, "nothing was written")
            try CoreDataStoreFiles.execute("UPDATE ZKEEPER SET ZAGE = 31, Z_OPT = 9 WHERE Z_PK = 1", at: zoo.file)
            func age() -> Int? { context.performAndWait { context.object(with: ann).value(forKey: "age") as? Int } }
            // A context that merges by itself has the values before the notification.
            #expect(received.wait())
            #expect(received.all.first?.userInfo?[NSStoreUUIDKey] as? String == Zoo.identifier)
            #expect(received.all.first?.userInfo?[NSPersistentStoreURLKey] as? URL == zoo.file)
            #expect(age() == 31)
            try coordinator.remove(store)
            let count = received.all.count
            // As long as before.
            Thread.sleep(forTimeInterval: 0.6)
            #expect(received.all.count == count)
        }
    }
}
