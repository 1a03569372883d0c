import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// A file that was made from a store, and the answers of this project's reader and of SQLite about it.
struct ExportedStore {
    let file: URL
    let summary: SQLiteStoreExport.Summary

    /// Writes a store, calls `body`, and removes the file.
    static func with<Result>(
        _ store: NSPersistentStore, _ layout: SQLiteStoreExport.Layout = .coreData(version: nil), _ body: (ExportedStore) throws -> Result
    ) throws -> Result {
        try CoreDataStoreFiles.withFolder { folder in
            let file = folder.appendingPathComponent("Exported.sqlite")
            let summary = try SQLiteStoreExport(store, layout).write(to: file)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Exported.sqlite"], "nothing else is left")
            return try body(ExportedStore(file: file, summary: summary))
        }
    }

    /// The file opened in place.
    func context(_ model: NSManagedObjectModel, configuration: String? = nil) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, configuration: configuration, at: file)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The rows of a query by SQLite, each as a list in Python's form; nil without Python.
    func rows(_ sql: String) throws -> String? {
        guard CoreDataStoreFiles.canBeMade else { return nil }
        let program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1])\nfor row in c.execute(sys.argv[2]): print(list(row))"
        return try CoreDataStoreFiles.run(["-c", program, file.path, sql])
    }

    /// Lets SQLite check the file, if Python is there.
    func check(_ name: Comment = "") throws {
        guard CoreDataStoreFiles.canBeMade else { return }
        let program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1])\n"
            + "for check in 'integrity_check', 'foreign_key_check': print(c.execute('PRAGMA ' + check).fetchall())"
        #expect(try CoreDataStoreFiles.run(["-c", program, file.path]) == "[('ok',)]\n[]\n", name)
    }
}
