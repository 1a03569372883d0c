import Foundation
import Heartwood
import RecordLog

/// A store opened as an application would open it, with the model that it carries or one that is given.
final class OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel

    init(
        path: String, model: NSManagedObjectModel? = nil, isReadOnly: Bool, durability: RecordLogDurability = .full,
        usesMemoryMapping: Bool = true
    ) throws {
        url = URL(fileURLWithPath: path)
        self.model = try model ?? StoredModel.read(at: url, usesMemoryMapping: usesMemoryMapping)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.model)
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: isReadOnly, NSRecordLogDurabilityOption: durability.rawValue,
                NSRecordLogMemoryMappingOption: usesMemoryMapping,
            ])
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    var log: LogStore? { coordinator.persistentStores.first?.recordLog }

    func entity(_ name: String) throws -> NSEntityDescription { try Self.entity(name, of: model) }

    static func entity(_ name: String, of model: NSManagedObjectModel) throws -> NSEntityDescription {
        guard let entity = model.entitiesByName[name] else {
            throw ToolError.usage(
                "there is no entity \"\(name)\"; the model has \(model.entitiesByName.keys.sorted().joined(separator: ", "))")
        }
        return entity
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
