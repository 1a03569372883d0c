import Foundation

/// Merges several models into one.
struct ModelMerge {
    let models: [NSManagedObjectModel]

    /// - Parameter result: the model to fill; nil for a new one.
    /// - Throws: if two models have different entities with the same name; the message names the difference.
    func merge(into result: NSManagedObjectModel?) throws -> NSManagedObjectModel {
        var merged = ModelDocument()
        var indexes: [String: Int] = [:]
        var requests: Set<String> = []
        for model in models {
            let document = ModelDocument(model)
            for entity in document.entities {
                guard let index = indexes[entity.name] else {
                    indexes[entity.name] = merged.entities.count
                    merged.entities.append(entity)
                    continue
                }
                try check(entity, merged.entities[index])
            }
            for (name, members) in document.configurations ?? [:] {
                let known = merged.configurations?[name] ?? []
                merged.configurations = (merged.configurations ?? [:]).merging([name: Set(known + members).sorted()]) { $1 }
            }
            for request in document.fetchRequests ?? [] where requests.insert(request.name).inserted {
                merged.fetchRequests = (merged.fetchRequests ?? []) + [request]
            }
            merged.versionIdentifiers = Set((merged.versionIdentifiers ?? []) + (document.versionIdentifiers ?? [])).sorted()
        }
        let made = try ModelBuilder(merged).build(into: result)
        // In reverse order, so that the first model with a request or an entity decides.
        for model in models.reversed() { made.copyRest(of: model) }
        for model in models { made.coreDataHashes.add(model.coreDataHashes) }
        return made
    }

    private func check(_ entity: ModelDocument.Entity, _ known: ModelDocument.Entity) throws {
        guard entity.inOrder != known.inOrder else { return }
        let mine = entity.parts, theirs = known.parts
        let names = Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] }.sorted()
        throw CoreDataError.make(
            NSPersistentStoreIncompatibleSchemaError,
            "Models cannot be merged that have two different entities named \(entity.name); they differ in "
                + "\(names.isEmpty ? "the entity itself" : names.joined(separator: ", ")). Rename one, or make them the same.")
    }
}

extension ModelDocument.Entity {
    /// A copy whose parts are sorted by name: the order in which a model states them has no meaning.
    fileprivate var inOrder: Self {
        var entity = self
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        entity.fetchedProperties?.sort { $0.name < $1.name }
        entity.indexes?.sort { $0.name < $1.name }
        return entity
    }

    /// The properties by name, each as a text for comparison.
    fileprivate var parts: [String: String] {
        var parts = Dictionary(attributes.map { ($0.name, "\($0)") }) { first, _ in first }
        parts.merge(relationships.map { ($0.name, "\($0)") }) { first, _ in first }
        parts.merge((fetchedProperties ?? []).map { ($0.name, "\($0)") }) { first, _ in first }
        return parts
    }
}

extension NSManagedObjectModel {
    /// Merges the entities, configurations, fetch request templates and version identifiers of several models. An entity that is equal in two
    /// models is taken once. Returns nil for no models, and for models that contradict each other in another way than by an entity's name.
    /// - Precondition: no two models have different entities with the same name.
    /// - Parameters:
    ///   - models: nil for none.
    ///   - fileID: names the module in which to look for entity classes that a model names without a module.
    public convenience init?(byMerging models: [NSManagedObjectModel]?, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(merging: models)
    }

    /// The form without `fileID`, so that the initializer can be used as a function.
    @_disfavoredOverload
    public convenience init?(byMerging models: [NSManagedObjectModel]?) { self.init(merging: models) }

    private convenience init?(merging models: [NSManagedObjectModel]?) {
        self.init()
        guard let models, !models.isEmpty else { return nil }
        do {
            _ = try ModelMerge(models: models).merge(into: self)
        } catch {
            misuse(error.localizedDescription)
        }
    }

    /// Finds the model with which a store was made: one of `models`, or several of them merged. Returns nil if none fits the metadata.
    public convenience init?(
        byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any], fileID: StaticString = #fileID
    ) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(merging: models, metadata)
    }

    /// The form without `fileID`, so that the initializer can be used as a function.
    @_disfavoredOverload
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init(merging: models, metadata)
    }

    private convenience init?(merging models: [NSManagedObjectModel], _ metadata: [String: Any]) {
        self.init()
        guard let fitting = Self.fitting(models, metadata), (try? ModelMerge(models: fitting).merge(into: self)) != nil else { return nil }
    }

    /// Merges the current versions of all model files in bundles' resources. Returns nil if no model loads.
    /// - Parameters:
    ///   - bundles: nil: the main bundle.
    ///   - fileID: names the module in which to look for entity classes that a model names without a module.
    /// - Precondition: no two models have different entities with the same name.
    public class func mergedModel(from bundles: [Bundle]?, fileID: StaticString = #fileID) -> NSManagedObjectModel? {
        ManagedObjectClasses.note(fileID: fileID)
        return NSManagedObjectModel(merging: ModelFinder.files(in: bundles ?? [.main]).compactMap { try? load(contentsOf: $0) })
    }

    /// Finds the model with which a store was made, among all versions of all models in bundles. Returns nil if none fits the metadata.
    /// - Parameters:
    ///   - bundles: nil: the main bundle.
    ///   - metadata: the store's.
    ///   - fileID: names the module in which to look for entity classes that a model names without a module.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any], fileID: StaticString = #fileID
    ) -> NSManagedObjectModel? {
        ManagedObjectClasses.note(fileID: fileID)
        return made(with: metadata, among: ModelFinder.files(in: bundles ?? [.main]).flatMap(ModelFile.versions))
    }

    /// The forms without `fileID`, so that the methods can be used as functions.
    @_disfavoredOverload
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? { mergedModel(from: bundles, fileID: "") }

    @_disfavoredOverload
    public class func mergedModel(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]) -> NSManagedObjectModel? {
        mergedModel(from: bundles, forStoreMetadata: metadata, fileID: "")
    }

    /// The model with which a store was made, or the merge of its parts; nil if none fits. Each version is let go before the next is loaded.
    /// - Parameter versions: the files of models.
    static func made(with metadata: [String: Any], among versions: [URL]) -> NSManagedObjectModel? {
        let sorted = ModelFinder.sorted(versions, by: metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
        guard let fitting = fitting(sorted.lazy.compactMap { try? load(contentsOf: $0) }, metadata) else { return nil }
        return NSManagedObjectModel(merging: fitting)
    }

    /// One model that matches the store as a whole or with one of its configurations. Otherwise all models whose entities all match the store's,
    /// if together they have every entity of the store.
    private static func fitting(_ models: some Sequence<NSManagedObjectModel>, _ metadata: [String: Any]) -> [NSManagedObjectModel]? {
        let stored = storedHashes(metadata) ?? [:]
        var configured: NSManagedObjectModel?, parts: [NSManagedObjectModel] = []
        for model in models {
            if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return [model] }
            let isConfigured = configured == nil && model.configurations.contains {
                model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata)
            }
            if isConfigured { configured = model }
            if model.entities.allSatisfy({ model.isVersion(of: $0, in: stored) }) { parts.append(model) }
        }
        if let configured { return [configured] }
        let found = Set(parts.flatMap(\.entityVersionHashesByName.keys))
        return !stored.isEmpty && found == Set(stored.keys) ? parts : nil
    }
}
