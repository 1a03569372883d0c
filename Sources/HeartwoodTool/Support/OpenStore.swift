import Foundation
import Heartwood
import RecordLog

/// A store opened as an application would open it, with the model that it carries or one that is given.
final class OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel

    /// - Parameter acceptsDamage: whether a damaged store is opened as of what comes before the damage, with a warning.
    init(
        path: String, model: NSManagedObjectModel? = nil, isReadOnly: Bool, durability: RecordLogDurability = .full,
        usesMemoryMapping: Bool = true, acceptsDamage: Bool = false
    ) throws {
        url = URL(fileURLWithPath: path)
        self.model = try model ?? DamagedStore.model(at: url, usesMemoryMapping: usesMemoryMapping, isAccepted: acceptsDamage, warns: false)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: self.model)
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: isReadOnly, NSRecordLogDurabilityOption: durability.rawValue,
                NSRecordLogMemoryMappingOption: usesMemoryMapping, NSRecordLogAcceptsDamageOption: acceptsDamage,
            ])
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        if let damage = log?.damage { DamagedStore.warn(damage) }
    }

    var log: LogStore? { coordinator.persistentStores.first?.recordLog }

    func entity(_ name: String) throws -> NSEntityDescription { try Self.entity(name, of: model) }

    static func entity(_ name: String, of model: NSManagedObjectModel) throws -> NSEntityDescription {
        guard let entity = model.entitiesByName[name] else {
            throw ToolError.usage(
                "there is no entity \"\(DisplayWidth.printable(name))\"; the model has "
                    + DisplayWidth.printable(model.entitiesByName.keys.sorted().joined(separator: ", ")))
        }
        return entity
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
