import Foundation
import RecordLog

/// SQLite stores where a record log is asked for.
extension NSPersistentStoreCoordinator {
    /// Converts the file at a record log's URL, if it is an SQLite store and the options ask for migration. Returns whether adding the store
    /// must be retried.
    /// - Parameter error: the error of adding it.
    /// - Throws: the error of the conversion.
    final func convert(_ store: MigrationEnd, after error: any Error) throws -> Bool {
        let options = MigrationOptions(store.options), cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError
        guard store.type == NSRecordLogStoreType, options.migrates, !options.isReadOnly, cause?.code == .notAStore,
            CoreDataFile.isClearDatabase(store.url)
        else { return false }
        try SQLiteExchange(conversion: SQLiteConversion(store, for: managedObjectModel)).run()
        return true
    }

    /// Makes the record log of a container whose name an SQLite store beside it has, as an app that was ported leaves it. The SQLite store stays as
    /// it is.
    ///
    /// A record log that was removed by `destroyPersistentStore` is an empty file, and is not made again.
    final func adoptNeighbor(of description: NSPersistentStoreDescription) throws {
        guard let neighbor = description.neighbor, let url = description.url, description.type == NSRecordLogStoreType else { return }
        let source = MigrationEnd(
            url: neighbor, type: NSSQLiteStoreType, options: description.options, configuration: description.configuration)
        let options = MigrationOptions(source.options)
        guard options.migrates, !options.isReadOnly, !FileManager.default.fileExists(atPath: url.path), CoreDataFile.isClearDatabase(neighbor)
        else { return }
        try SQLiteConversion(source, for: managedObjectModel).run(to: url)
    }
}

extension SQLiteConversion {
    fileprivate init(_ store: MigrationEnd, for model: NSManagedObjectModel) {
        let options = MigrationOptions(store.options)
        self.init(
            store.url, for: model, configuration: store.configuration, keepsHistory: SQLiteConversion.tracksHistory(store.options),
            dropping: options.acceptsUnrelated || options.staged != nil ? .isTold : .refusesUnrelated)
    }

    /// A store that is to track its history keeps that of the old one.
    static func tracksHistory(_ options: [AnyHashable: Any]?) -> Bool {
        options?[NSPersistentHistoryTrackingKey] is NSDictionary
            || NSPersistentStore.flag(NSPersistentHistoryTrackingKey, in: options) ?? false
    }
}
