import Foundation
import Heartwood

/// `heartwood-testprocess --without-sqlite FOLDER`: what a program meets that has the module Heartwood, and nothing of SQLite. The folder has a
/// file `App.sqlite`.
enum ProgramWithoutSQLite {
    /// The folder of `App.sqlite`, in which the container looks for its store.
    private static let folder = URL(fileURLWithPath: CommandLine.arguments[2])

    private final class Container: NSPersistentContainer, @unchecked Sendable {
        override class func defaultDirectoryURL() -> URL { ProgramWithoutSQLite.folder }
    }

    /// Prints the result of each step in a line.
    static func run() {
        let file = folder.appendingPathComponent("App.sqlite"), model = GraphModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        func add(_ type: String, _ url: URL) throws {
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        }
        tell("types") { print("\(NSPersistentStoreCoordinator.registeredStoreTypes.keys.sorted())") }
        tell("metadata") {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file)
        }
        tell("add") { try add(NSSQLiteStoreType, file) }
        tell("nowhere") { try add(NSSQLiteStoreType, URL(fileURLWithPath: "/dev/null")) }
        tell("log") { try add(NSRecordLogStoreType, folder.appendingPathComponent("Other.heartwood")) }
        tell("container") {
            var failure: (any Error)?
            Container(name: "App", managedObjectModel: model).loadPersistentStores { failure = $1 }
            if let failure { throw failure }
        }
    }

    private static func tell(_ step: String, _ body: () throws -> Void) {
        do {
            try body()
            print("\(step): done")
        } catch {
            print("\(step): \((error as NSError).domain) \((error as NSError).code) \((error as NSError).localizedDescription)")
        }
    }
}
