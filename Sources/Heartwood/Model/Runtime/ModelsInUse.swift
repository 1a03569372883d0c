import Foundation
import Synchronization

/// The models that coordinators use, newest last, so that an entity can be found by its class.
enum ModelsInUse {
    private struct Reference: @unchecked Sendable {
        // Unchecked: models are immutable once a coordinator uses them.
        weak var model: NSManagedObjectModel?
    }

    private static let models = Mutex<[Reference]>([])

    static func note(_ model: NSManagedObjectModel) {
        models.withLock { list in
            list.removeAll { $0.model == nil || $0.model === model }
            list.append(Reference(model: model))
        }
    }

    static func has(_ model: NSManagedObjectModel) -> Bool { models.withLock { list in list.contains { $0.model === model } } }

    /// Whether a model that a coordinator of this process has used, and that still exists, meets the condition.
    static func contain(where isSuch: (NSManagedObjectModel) -> Bool) -> Bool {
        models.withLock { $0.compactMap(\.model) }.contains(where: isSuch)
    }

    static func forget(_ model: NSManagedObjectModel) { models.withLock { list in list.removeAll { $0.model === model } } }

    static func entity(forClass type: AnyClass) -> NSEntityDescription? {
        for model in models.withLock({ $0.compactMap(\.model) }).reversed() {
            if let entity = entity(forClass: type, among: model.entities) { return entity }
        }
        return nil
    }

    static func entity(forClass type: AnyClass, among entities: [NSEntityDescription]) -> NSEntityDescription? {
        let full = ManagedObjectClasses.fullName(of: type)
        if let named = entities.first(where: { $0.managedObjectClassName == full }) { return named }
        let short = ManagedObjectClasses.shortName(full)
        return entities.first { ManagedObjectClasses.shortName($0.managedObjectClassName ?? "") == short }
            ?? entities.first { $0.name == short }
    }
}
