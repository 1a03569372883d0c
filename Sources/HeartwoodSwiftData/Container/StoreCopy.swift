import Foundation
import Heartwood

/// A copy of a store beside it, on which a migration works.
enum StoreCopy {
    /// Runs `body` on a copy, which then takes the store's place: whatever throws or crashes before leaves the store as it was.
    static func replacing(_ url: URL, by body: (URL) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        let folder = url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).migrating")
        // An earlier migration that crashed has left its copy here.
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appending(path: url.lastPathComponent)
        func replace(_ url: URL, by other: URL) throws {
            try coordinator.replacePersistentStore(
                at: url, destinationOptions: nil, withPersistentStoreFrom: other, sourceOptions: nil, type: .recordLog)
        }
        try replace(copy, by: url)
        try body(copy)
        try replace(url, by: copy)
    }
}
