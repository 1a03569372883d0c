import Foundation
import Heartwood
import RecordLog

/// A store opened as an application would open it, with the model that it carries or one that is given.
final class OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel
    /// The entities that the store holds: those of its configuration.
    let entities: [NSEntityDescription]

    /// - Parameters:
    ///   - configuration: that of a store which is made; one that exists was made with its own.
    ///   - acceptsDamage: whether a damaged store is opened as of what comes before the damage, with a warning.
    init(
        path: String, model: NSManagedObjectModel? = nil, configuration: String? = nil, isReadOnly: Bool, durability: RecordLogDurability = .full,
        usesMemoryMapping: Bool = true, acceptsDamage: Bool = false
    ) throws {
        url = URL(fileURLWithPath: path)
        let used = try model ?? DamagedStore.model(at: url, usesMemoryMapping: usesMemoryMapping, isAccepted: acceptsDamage, warns: false)
        self.model = used
        let made = try StoredModel.configuration(at: url, usesMemoryMapping: usesMemoryMapping, acceptsDamage: acceptsDamage)
        let wanted = made ?? configuration
        guard wanted.map({ used.configurations.contains($0) }) ?? true else {
            throw ToolError.usage(
                "the model has no configuration \"\(wanted ?? "")\"\(made == nil ? "" : ", which \(path) was made with"); it has "
                    + used.configurations.sorted().joined(separator: ", "))
        }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: used)
        entities = used.entities(forConfigurationName: wanted) ?? used.entities
        try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: wanted, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: isReadOnly, NSRecordLogDurabilityOption: durability.rawValue,
                NSRecordLogMemoryMappingOption: usesMemoryMapping, NSRecordLogAcceptsDamageOption: acceptsDamage,
            ])
        context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        if let damage = log?.damage { DamagedStore.warn(damage) }
    }

    var log: LogStore? { coordinator.persistentStores.first?.recordLog }

    func entity(_ name: String) throws -> NSEntityDescription { try Self.entity(name, among: entities) }

    static func entity(_ name: String, among entities: [NSEntityDescription]) throws -> NSEntityDescription {
        guard let entity = entities.first(where: { $0.name == name }) else {
            throw ToolError.usage(
                "there is no entity \"\(DisplayWidth.printable(name))\"; the model has "
                    + DisplayWidth.printable(entities.compactMap(\.name).sorted().joined(separator: ", ")))
        }
        return entity
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
