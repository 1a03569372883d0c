import Foundation
import Heartwood
import RecordLog

/// A store opened as an application would open it, with the model that it carries or a given one.
final class OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let model: NSManagedObjectModel
    /// The entities of the store's configuration.
    let entities: [NSEntityDescription]

    /// - Parameters:
    ///   - modelFile: the path of a model, for a Core Data store without one.
    ///   - configuration: the configuration of a new store; an existing store keeps its own.
    ///   - acceptsDamage: whether to open a damaged store at its state before the damage, with a warning.
    init(
        path: String, model: NSManagedObjectModel? = nil, modelFile: String? = nil, configuration: String? = nil, isReadOnly: Bool,
        durability: RecordLogDurability = .full, usesMemoryMapping: Bool = true, acceptsDamage: Bool = false
    ) throws {
        url = URL(fileURLWithPath: path)
        guard !CoreDataStore.isOne(path) else {
            if !isReadOnly { try CoreDataStore.refuse(path, CoreDataStore.conversion(path)) }
            let found = try CoreDataStore.model(path, given: modelFile), part = try found.configuration(ofStoreAt: path)
            self.model = found.model
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
            entities = found.model.entities(forConfigurationName: part) ?? found.model.entities
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: part, at: url, options: [NSReadOnlyPersistentStoreOption: true])
            context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return
        }
        guard modelFile == nil else { throw ToolError.usage("--model is for Core Data stores; \(path) carries its model, if it is a store") }
        let used = try model ?? DamagedStore.model(at: url, usesMemoryMapping: usesMemoryMapping, isAccepted: acceptsDamage, warns: false)
        self.model = used
        let made = try StoredModel.configuration(at: url, usesMemoryMapping: usesMemoryMapping, acceptsDamage: acceptsDamage)
        let wanted = made ?? configuration
        try Self.check(wanted, madeWith: made == nil ? nil : path, used)
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

    /// - Parameter path: a store that was made with the configuration; nil if it is to be made.
    /// - Throws: if the model has no such configuration.
    static func check(_ configuration: String?, madeWith path: String?, _ model: NSManagedObjectModel) throws {
        guard let configuration, !model.configurations.contains(configuration) else { return }
        throw ToolError.usage(
            "the model has no configuration \"\(configuration)\"\(path.map { ", which \($0) was made with" } ?? ""); it has "
                + model.configurations.sorted().joined(separator: ", "))
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
