import Foundation
import RecordLog

/// Stores of other types where a record log is asked for.
extension NSPersistentStoreCoordinator {
    /// Converts the file at a record log's URL, if it is a store of which record logs are made and the options ask for migration. Returns
    /// whether adding the store must be retried.
    /// - Parameter error: the error of adding it.
    /// - Throws: the error of the conversion.
    final func convert(_ store: MigrationEnd, after error: any Error) throws -> Bool {
        let options = MigrationOptions(store.options), cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError
        guard store.type == NSRecordLogStoreType, options.migrates, !options.isReadOnly, cause?.code == .notAStore else { return false }
        return try StoreClasses.builtInFileClasses.contains { try $0.makeRecordLog(of: store, at: nil, for: managedObjectModel) }
    }

    /// Makes the record log of a container whose name an SQLite store beside it has, as an app that was ported leaves it. The SQLite store stays as
    /// it is.
    ///
    /// A record log that was removed by `destroyPersistentStore` is an empty file, and is not made again.
    /// - Throws: 134000 in a program that has no class for the old store, since a new one would hide what the user has.
    final func adoptNeighbor(of description: NSPersistentStoreDescription) throws {
        guard let neighbor = description.neighbor, let url = description.url, description.type == NSRecordLogStoreType else { return }
        let source = MigrationEnd(
            url: neighbor, type: NSSQLiteStoreType, options: description.options, configuration: description.configuration)
        let options = MigrationOptions(source.options), files = FileManager.default
        guard options.migrates, !options.isReadOnly, !files.fileExists(atPath: url.path), files.fileExists(atPath: neighbor.path) else { return }
        _ = try StoreClasses.builtInFileClass(for: source.type).makeRecordLog(of: source, at: url, for: managedObjectModel)
    }
}
