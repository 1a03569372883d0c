import Foundation

/// Makes one model of several.
struct ModelMerge {
    let models: [NSManagedObjectModel]

    /// - Parameter result: the model to fill; nil for a new one.
    /// - Throws: where two models have entities of one name that differ; the message says in what.
    func merge(into result: NSManagedObjectModel?) throws -> NSManagedObjectModel {
        var merged = ModelDocument()
        var places: [String: Int] = [:]
        var requests: Set<String> = []
        for model in models {
            let document = ModelDocument(model)
            for entity in document.entities {
                guard let index = places[entity.name] else {
                    places[entity.name] = merged.entities.count
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
        // The first model that has a request or an entity says what it is.
        for model in models.reversed() { made.takeRest(of: model) }
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
    /// The same with its parts by their names: the order in which they are stated says nothing.
    fileprivate var inOrder: Self {
        var entity = self
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        entity.fetchedProperties?.sort { $0.name < $1.name }
        entity.indexes?.sort { $0.name < $1.name }
        return entity
    }

    /// Its properties by name, as text to compare.
    fileprivate var parts: [String: String] {
        var parts = Dictionary(attributes.map { ($0.name, "\($0)") }) { first, _ in first }
        parts.merge(relationships.map { ($0.name, "\($0)") }) { first, _ in first }
        parts.merge((fetchedProperties ?? []).map { ($0.name, "\($0)") }) { first, _ in first }
        return parts
    }
}

extension NSManagedObjectModel {
    /// One model with the entities, configurations, fetch request templates and version identifiers of several. Entities that are the same
    /// in two models are taken once. nil for no models, or where they contradict each other otherwise than by an entity's name.
    /// - Precondition: no two models have different entities of one name.
    /// - Parameter fileID: tells in which module the entities' classes may be found that the models name without one.
    public convenience init?(byMerging models: [NSManagedObjectModel]?, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(merging: models)
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init?(byMerging models: [NSManagedObjectModel]?) { self.init(merging: models) }

    private convenience init?(merging models: [NSManagedObjectModel]?) {
        self.init()
        guard let models, !models.isEmpty else { return nil }
        do {
            _ = try ModelMerge(models: models).merge(into: self)
        } catch {
            preconditionFailure(error.localizedDescription)
        }
    }

    /// The model among these, or the merger of several of them, with which the store was made that this metadata is of. nil where there
    /// is none.
    public convenience init?(
        byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any], fileID: StaticString = #fileID
    ) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(merging: models, metadata)
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init(merging: models, metadata)
    }

    private convenience init?(merging models: [NSManagedObjectModel], _ metadata: [String: Any]) {
        self.init()
        guard let fitting = Self.fitting(models, metadata), (try? ModelMerge(models: fitting).merge(into: self)) != nil else { return nil }
    }

    /// One model of all those in bundles: the current versions of the model files in their resources. nil where there is none that loads.
    /// - Parameter bundles: nil: the main bundle.
    /// - Precondition: no two models have different entities of one name.
    public class func mergedModel(from bundles: [Bundle]?, fileID: StaticString = #fileID) -> NSManagedObjectModel? {
        ManagedObjectClasses.note(fileID: fileID)
        return NSManagedObjectModel(merging: ModelFinder.files(in: bundles ?? [.main]).compactMap { try? load(contentsOf: $0) })
    }

    /// The model with which a store was made, found among all versions of all models in bundles. nil where there is none.
    /// - Parameter bundles: nil: the main bundle.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any], fileID: StaticString = #fileID
    ) -> NSManagedObjectModel? {
        ManagedObjectClasses.note(fileID: fileID)
        let versions = ModelFinder.files(in: bundles ?? [.main]).flatMap(ModelFile.versions)
        return NSManagedObjectModel(merging: versions.compactMap { try? load(contentsOf: $0) }, metadata)
    }

    /// The methods as functions.
    @_disfavoredOverload
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? { mergedModel(from: bundles, fileID: "") }

    @_disfavoredOverload
    public class func mergedModel(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]) -> NSManagedObjectModel? {
        mergedModel(from: bundles, forStoreMetadata: metadata, fileID: "")
    }

    /// One model that is the store's, or has a configuration that is; else those that have nothing but entities of the store, if they
    /// have all of them.
    private static func fitting(_ models: [NSManagedObjectModel], _ metadata: [String: Any]) -> [NSManagedObjectModel]? {
        let whole = models.first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) } ?? models.first { model in
            model.configurations.contains { model.isConfiguration(withName: $0, compatibleWithStoreMetadata: metadata) }
        }
        if let whole { return [whole] }
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let parts = models.filter { model in model.entityVersionHashesByName.allSatisfy { stored[$0.key] == $0.value } }
        let found = Set(parts.flatMap(\.entityVersionHashesByName.keys))
        return !stored.isEmpty && found == Set(stored.keys) ? parts : nil
    }
}
