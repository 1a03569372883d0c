import Foundation
internal import HeartwoodDigests
import Synchronization

/// The entities of an application and their relationships.
///
/// Build it in code, or load it from an `.xcdatamodeld`. Once a coordinator uses it, it cannot be changed.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    private var list: [NSEntityDescription] = []
    private var configurationEntities: [String: [String]] = [:]
    private final let isMadeImmutable = Atomic(false)
    private final var isImmutable: Bool { isMadeImmutable.load(ordering: .acquiring) }
    private var immutableByName: [String: NSEntityDescription]?
    private var knownChecksum: String?
    /// Whether any entity has composite attributes; set when the model becomes immutable.
    private(set) final var hasComposites = false
    /// Whether siblings have relationships with the same name to different entities; set when the model becomes immutable.
    private(set) final var hasNamesakes = false
    /// The model's named fetch requests; see `fetchRequestFromTemplate(withName:substitutionVariables:)`.
    open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    /// Names of the model's version, for people to read.
    open var versionIdentifiers: Set<AnyHashable> = []
    /// The names of entities and properties in validation errors, by keys such as `Entity/Person`, `Property/name/Entity/Person` and
    /// `Property/name`; nil, the default: the names in the model. It may change while the model is in use, on one thread at a time.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/localizationdictionary
    open var localizationDictionary: [String: String]?
    /// Statements of the model's file that were ignored or changed.
    package final var warnings: [ModelWarnings.Warning] = []
    /// The hashes in the compiled model from which this model was loaded.
    package final var coreDataHashes = CoreDataHashes()

    public override init() {
        super.init()
    }

    /// Loads a model file; nil if it cannot be loaded. `load(contentsOf:)` documents the kinds of files, and throws the reason.
    /// - Parameters:
    ///   - url: the model file.
    ///   - fileID: names the module in which to look for entity classes that the model names without a module.
    public convenience init?(contentsOf url: URL, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(reading: url)
    }

    /// The form without `fileID`, so that the initializer can be used as a function.
    @_disfavoredOverload
    public convenience init?(contentsOf url: URL) { self.init(reading: url) }

    private convenience init?(reading url: URL) {
        self.init()
        guard (try? Self.load(contentsOf: url, into: self)) != nil else { return nil }
    }

    /// Loads an `.xcdatamodeld` (its current version), an `.xcdatamodel` (also in Xcode 3's format), or a compiled model: a `.momd` (its current
    /// version) or a `.mom`.
    /// - Parameters:
    ///   - url: the model file.
    ///   - fileID: names the module in which to look for entity classes that the model names without a module.
    /// - Throws: an error whose description names the file, the element and the line.
    public static func load(contentsOf url: URL, fileID: StaticString = #fileID) throws -> NSManagedObjectModel {
        ManagedObjectClasses.note(fileID: fileID)
        return try load(contentsOf: url, into: nil)
    }

    private static func load(contentsOf url: URL, into model: NSManagedObjectModel?) throws -> NSManagedObjectModel {
        let document = try ModelFile.read(url), model = try ModelBuilder(document).build(into: model)
        if let path = document.source { model.coreDataHashes = CoreDataHashes(of: model, readFrom: path) }
        return model
    }

    // MARK: Coding

    open class var supportsSecureCoding: Bool { true }
    private static let archiveKey = "model"

    /// Encodes the form in which a store keeps its model. It omits requests, predicates and user info that a model file cannot state.
    open func encode(with coder: NSCoder) {
        if let bytes = try? archivedBytes() { coder.encode(NSData(data: Data(bytes)), forKey: Self.archiveKey) }
    }

    /// nil if the decoded bytes are no model.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.archiveKey),
            let document = try? JSONDecoder().decode(ModelDocument.self, from: data as Data)
        else { return nil }
        self.init()
        guard (try? ModelBuilder(document).build(into: self)) != nil else { return nil }
    }

    // MARK: Entities

    open var entities: [NSEntityDescription] {
        get { list }
        set {
            demand(!isImmutable, ModelMessages.immutable)
            list = newValue
            for entity in newValue { entity.model = self }
            let copies = newValue.filter { $0.isCopy && !$0.isImmutable }
            guard !copies.isEmpty else { return }
            let names = entitiesByName
            // Superentities come first, because an inverse may be inherited.
            for entity in copies { entity.takeSuperentity(among: names) }
            for entity in copies { entity.redirectReferences(among: names) }
        }
    }

    open var entitiesByName: [String: NSEntityDescription] {
        immutableByName ?? Dictionary(list.compactMap { entity in entity.name.map { ($0, entity) } }) { first, _ in first }
    }

    final func setTemplate(_ request: NSFetchRequest<any NSFetchRequestResult>?, _ name: String) {
        demand(!isImmutable, ModelMessages.immutable)
        fetchRequestTemplatesByName[name] = request
    }

    // MARK: Configurations

    open var configurations: [String] { configurationEntities.keys.sorted() }

    /// Core Data's name for the configuration of all entities.
    package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The entities of a configuration, and the entities that inherit from them unless another configuration has these; nil if the model has no
    /// configuration of this name.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration else { return entities }
        guard let names = configurationEntities[configuration] else { return configuration == Self.defaultConfigurationName ? entities : nil }
        let others = Set(configurationEntities.lazy.filter { $0.key != configuration }.flatMap(\.value))
        func isMember(_ entity: NSEntityDescription) -> Bool {
            let name = entity.name ?? ""
            return names.contains(name) || !others.contains(name) && entity.superentity.map(isMember) ?? false
        }
        return list.filter(isMember)
    }

    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        demand(!isImmutable, ModelMessages.immutable)
        configurationEntities[configuration] = entities.compactMap(\.name)
    }

    final func setEntityNames(_ names: [String], forConfigurationName configuration: String) {
        configurationEntities[configuration] = names
    }

    // MARK: Versions

    open var entityVersionHashesByName: [String: Data] {
        entitiesByName.mapValues(\.versionHash)
    }

    /// A string that is equal for two models if and only if all their version hashes are equal.
    open var versionChecksum: String {
        knownChecksum ?? Self.checksum(of: entityVersionHashesByName)
    }

    /// The checksum of a model with these version hashes.
    static func checksum(of hashes: [String: Data]) -> String {
        var bytes: [UInt8] = []
        for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
            bytes.append(contentsOf: name.utf8)
            bytes.append(0)
            bytes.append(contentsOf: hash)
        }
        return Data(SHA256.hash(bytes)).base64EncodedString()
    }

    /// The checksum of each version of a model, an `.xcdatamodeld` or a `.momd`, by the version's name.
    /// - Throws: if there is no model, or if a version does not load.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/checksumsforversionedmodel(at:)
    open class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        let versions = ModelFile.versions(of: modelURL)
        return Dictionary(try versions.map { url in
            (url.deletingPathExtension().lastPathComponent, try load(contentsOf: url).versionChecksum)
        }) { first, _ in first }
    }

    /// The key of Heartwood's hashes in the metadata of a store of Core Data's, beside those of Core Data.
    package static let comparableHashesKey = "HeartwoodModelVersionHashes"

    /// Whether a store with this metadata was made with the same versions of the configuration's entities. The metadata of a store of Core Data's
    /// have Core Data's hashes, which only compiled models and stores' own models know. If the store has its model, they have Heartwood's too.
    open func isConfiguration(withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let stored = Self.storedHashes(metadata), let entities = entities(forConfigurationName: configuration) else { return false }
        return Set(entities.map { $0.name ?? "" }) == Set(stored.keys) && entities.allSatisfy { isVersion(of: $0, in: stored) }
    }

    /// The hashes of a store's entities: those that any model can be compared with, if there are such.
    static func storedHashes(_ metadata: [String: Any]) -> [String: Data]? {
        (metadata[comparableHashesKey] ?? metadata[NSStoreModelVersionHashesKey]) as? [String: Data]
    }

    /// Whether an entity's hash, Heartwood's or Core Data's, is among those of a store.
    final func isVersion(of entity: NSEntityDescription, in stored: [String: Data]) -> Bool {
        guard let hash = stored[entity.name ?? ""] else { return false }
        return hash == entity.versionHash || coreDataHashes[entity]?.contains(hash) ?? false
    }

    // MARK: Immutability and copying

    /// Makes the model immutable. Coordinators call this before they use it, each on its thread: on return the model is whole for all of them.
    package final func makeImmutable() {
        guard !isImmutable else { return }
        ImmutableModels.alone {
            guard !isImmutable else { return }
            for entity in list { entity.becomeImmutable() }
            hasComposites = list.contains(where: \.hasComposites)
            hasNamesakes = findNamesakes()
            immutableByName = entitiesByName
            knownChecksum = versionChecksum
            isMadeImmutable.store(true, ordering: .releasing)
        }
    }

    /// Whether both have equal entities, configurations, fetch requests and version identifiers. Two loads of one file are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return self === other || entities.count == other.entities.count && ModelContents.contents(of: self) == ModelContents.contents(of: other)
    }

    /// A hash of the entities' names.
    open override var hash: Int { Set(entities.map(\.name)).hashValue }

    /// Returns an editable copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSManagedObjectModel()
        // A document made from a valid model describes a valid model. If the original is invalid, the copy is too.
        _ = try? ModelBuilder(ModelDocument(self)).build(into: copy)
        copy.copyRest(of: self)
        copy.coreDataHashes = coreDataHashes
        return copy
    }
}

extension NSManagedObjectModel {
    /// Copies the parts of `original` that a document cannot express: predicates other than the limits that model files know, default values and
    /// user info that are no texts, and requests.
    final func copyRest(of original: NSManagedObjectModel) {
        let entities = entitiesByName
        for entity in original.entities {
            guard let duplicate = entities[entity.name ?? ""] else { continue }
            duplicate.userInfo = entity.userInfo
            let duplicates = duplicate.propertiesByName
            for property in entity.declaredProperties {
                guard let duplicate = duplicates[property.name] else { continue }
                duplicate.copyRest(of: property)
                if let fetched = duplicate as? NSFetchedPropertyDescription {
                    fetched.fetchRequest = self.duplicate((property as? NSFetchedPropertyDescription)?.fetchRequest)
                }
            }
        }
        for (name, request) in original.fetchRequestTemplatesByName { setTemplate(duplicate(request), name) }
        versionIdentifiers.formUnion(original.versionIdentifiers)
    }

    /// A copy of the request for this model's entity.
    private final func duplicate(_ request: NSFetchRequest<any NSFetchRequestResult>?) -> NSFetchRequest<any NSFetchRequestResult>? {
        request.map { $0.duplicate(of: $0.entityName.flatMap { entitiesByName[$0] }) }
    }

    /// The model as bytes, equal for equal models. Every store contains its model, so that it describes itself.
    ///
    /// A `ModelDocument` as JSON with sorted keys: docs/format/stack.md.
    package func archivedBytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return Array(try encoder.encode(ModelDocument(self)))
    }

    /// - Throws: if the bytes are no model, or a model that contradicts itself.
    package static func unarchive(_ bytes: UnsafeRawBufferPointer) throws -> NSManagedObjectModel {
        try ModelBuilder(try JSONDecoder().decode(ModelDocument.self, from: Data(bytes))).build(into: nil)
    }
}

extension NSPropertyDescription {
    fileprivate final func copyRest(of original: NSPropertyDescription) {
        setValidation(original.validationPredicates, warnings: original.validationWarnings)
        userInfo = original.userInfo
        guard let mine = self as? NSAttributeDescription, let theirs = original as? NSAttributeDescription else { return }
        mine.defaultValue = theirs.defaultValue
        guard let composite = mine as? NSCompositeAttributeDescription, let other = theirs as? NSCompositeAttributeDescription else { return }
        for (element, original) in zip(composite.elements, other.elements) { element.copyRest(of: original) }
    }
}

/// The lock under which models and entities become immutable. Threads share a model, and each may be the first to give it to a coordinator. Entities
/// of several models share superentities, so there is one lock.
enum ImmutableModels {
    // Recursive: a program's subclass of a description may make a coordinator in a getter that is read here.
    private static let lock = NSRecursiveLock()

    static func alone(_ body: () -> Void) { lock.withLock(body) }
}

extension NSManagedObjectModel {
    /// The names of the entities, for a message about a name that is none of them.
    var listedEntities: String { entitiesByName.isEmpty ? "no entities" : entitiesByName.keys.sorted().joined(separator: ", ") }
}
