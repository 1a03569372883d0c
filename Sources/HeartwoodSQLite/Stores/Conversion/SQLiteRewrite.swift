import Foundation
import Heartwood

/// Writes a new SQLite file with the objects of a store of Core Data's own. The objects go through a record log beside the new file, which is
/// removed again. The old store is only read.
package struct SQLiteRewrite {
    private let source: URL
    private let model: (model: NSManagedObjectModel, file: URL)?
    private let isPlain: Bool

    /// - Parameters:
    ///   - model: the store's model and its file, for a store without a model cache.
    ///   - isPlain: whether the new file has ordinary tables in place of Core Data's.
    package init(_ source: URL, model: (model: NSManagedObjectModel, file: URL)?, isPlain: Bool) {
        (self.source, self.model, self.isPlain) = (source.resolvingSymlinksInPath(), model, isPlain)
    }

    /// Crash points: before the end nothing is at the URL. `MigrationFolder` says what a crash leaves beside it.
    /// - Parameter progress: is called now and then with the objects that were written, and their number in all.
    /// - Throws: the errors of `SQLiteConversion.run` and `SQLiteStoreExport.write`. Nothing is at the URL then.
    package func write(
        to url: URL, progress: (Int, Int) -> Void = { _, _ in }
    ) throws -> (report: ConversionReport, summary: SQLiteStoreExport.Summary) {
        try SQLiteStoreExport.checkFree(url)
        let conversion = SQLiteConversion(source, model: model, keepsHistory: false, verifies: false)
        return try conversion.withFolder(besides: url.appendingPathExtension("objects")) { folder in
            let report = try conversion.run(to: folder.file)
            return (report, try export(folder.file, to: url, progress))
        }
    }

    private func export(_ log: URL, to url: URL, _ progress: (Int, Int) -> Void) throws -> SQLiteStoreExport.Summary {
        let model = try StoredModel.read(at: log), coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: StoredModel.configuration(at: log), at: log,
            options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        return try SQLiteStoreExport(store, isPlain ? .plain : .coreData(version: version())).write(to: url, progress: progress)
    }

    /// The old store knows its version, unless its model was guessed.
    private func version() throws -> URL? {
        if let file = model?.file, ["mom", "momd"].contains(file.pathExtension) { return file }
        return try model != nil || CoreDataContents.open(source.path).contents.cache != nil ? source : nil
    }
}
