import Foundation
import Heartwood

/// The file of a configuration that exists already.
struct StoreFile {
    let url: URL
    let type: NSPersistentStore.StoreType

    /// - Returns: nil where there is no file yet, or an empty one, which is what a store that was destroyed leaves.
    init?(_ url: URL) {
        guard let file = try? FileHandle(forReadingFrom: url) else { return nil }
        defer { try? file.close() }
        guard let start = try? file.read(upToCount: Self.magic.count), !start.isEmpty else { return nil }
        self.url = url
        type = start == Self.magic ? .sqlite : .recordLog
    }

    private static let magic = Data("SQLite format 3\0".utf8)

    var isSQLite: Bool { type == .sqlite }

    /// The entities with which the store was made, if one of them is not as the model has it. A store that cannot be read has none here: opening it
    /// tells why.
    func entities(differingFrom model: NSManagedObjectModel) -> [String: NSEntityDescription] {
        if !isSQLite {
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
            guard let hashes = metadata?[NSStoreModelVersionHashesKey] as? [String: Data] else { return [:] }
            let known = model.entities.map { (hashes[$0.name ?? ""], $0) }
            guard known.contains(where: { hash, entity in hash.map { $0 != entity.versionHash } ?? false }) else { return [:] }
        }
        return (try? storedModel())?.entitiesByName ?? [:]
    }

    /// The model with which the store was made; nil for a store that does not have it.
    func storedModel() throws -> NSManagedObjectModel? {
        let found = NSPersistentStoreCoordinator.registeredStoreTypes[type.rawValue] as? any FileStore.Type
        return try found?.storedModel(at: url, options: nil)
    }

    /// Makes a record log of a file of Core Data's or SwiftData's, in its place. The original stays beside it.
    /// - Throws: `SwiftDataError.loadIssueModelContainer` for a file without its model; the errors of the conversion.
    func convert() throws {
        guard isSQLite else { return }
        guard let model = try storedModel() else {
            throw SwiftDataError.loadIssueModelContainer.because(
                "The store \(url.path) is Core Data's, and does not have its model. Convert it by `heartwood convert --model`.")
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: true,
        ]
        try coordinator.remove(coordinator.addPersistentStore(type: .recordLog, at: url, options: options))
    }
}
