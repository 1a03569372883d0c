import Foundation

/// The entities of an application and how they relate.
///
/// Build it in code, or load it from an `.xcdatamodeld`. It cannot be changed any more once a coordinator uses it.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    private var list: [NSEntityDescription] = []
    private var configurationEntities: [String: [String]] = [:]
    private var isFrozen = false
    private var frozenByName: [String: NSEntityDescription]?
    private var frozenChecksum: String?
    /// Whether any entity has composite attributes; set when the model is frozen.
    private(set) final var hasComposites = false
    /// Whether siblings have relationships of one name to different entities; set when the model is frozen.
    private(set) final var hasNamesakes = false
    /// Fetch requests that the model keeps by name; see `fetchRequestFromTemplate(withName:substitutionVariables:)`.
    open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    /// Names of the model's version, for people.
    open var versionIdentifiers: Set<AnyHashable> = []
    /// What errors of validation call entities and properties, by keys such as `Entity/Person`, `Property/name/Entity/Person` and `Property/name`;
    /// nil, the default: their names. It may change while the model is in use, on one thread at a time.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/localizationdictionary
    open var localizationDictionary: [String: String]?
    /// What the file that it was loaded from says and is not taken at its word.
    package final var oddities: [ModelOddities.Oddity] = []
    /// Of the compiled model that it was loaded from.
    final var coreDataHashes = CoreDataHashes()

    public override init() {
        super.init()
    }

    /// Loads a model file; nil where it cannot be loaded. `load(contentsOf:)` says what it may be, and why it cannot.
    /// - Parameter fileID: tells in which module the entities' classes may be found that the model names without one.
    public convenience init?(contentsOf url: URL, fileID: StaticString = #fileID) {
        ManagedObjectClasses.note(fileID: fileID)
        self.init(reading: url)
    }

    /// The initializer as a function.
    @_disfavoredOverload
    public convenience init?(contentsOf url: URL) { self.init(reading: url) }

    private convenience init?(reading url: URL) {
        self.init()
        guard (try? Self.load(contentsOf: url, into: self)) != nil else { return nil }
    }

    /// Loads an `.xcdatamodeld` (its current version), an `.xcdatamodel`, also as Xcode 3 wrote it, or what Xcode compiles of them: a `.momd`
    /// (its current version) or a `.mom`.
    /// - Parameter fileID: tells in which module the entities' classes may be found that the model names without one.
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

    /// Encodes what a store keeps of its model: everything but requests, predicates and user info that a model file cannot state.
    open func encode(with coder: NSCoder) {
        if let bytes = try? archivedBytes() { coder.encode(NSData(data: Data(bytes)), forKey: Self.archiveKey) }
    }

    /// nil where what is decoded is no model.
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
            precondition(!isFrozen, ModelMessages.frozen)
            list = newValue
            for entity in newValue { entity.model = self }
            let copies = newValue.filter { $0.isCopy && !$0.isFrozen }
            guard !copies.isEmpty else { return }
            let names = entitiesByName
            // Superentities first: an inverse may be one of theirs.
            for entity in copies { entity.takeSuperentity(among: names) }
            for entity in copies { entity.takeRelatives(among: names) }
        }
    }

    open var entitiesByName: [String: NSEntityDescription] {
        frozenByName ?? Dictionary(list.compactMap { entity in entity.name.map { ($0, entity) } }) { first, _ in first }
    }

    final func setTemplate(_ request: NSFetchRequest<any NSFetchRequestResult>?, _ name: String) {
        precondition(!isFrozen, ModelMessages.frozen)
        fetchRequestTemplatesByName[name] = request
    }

    // MARK: Configurations

    open var configurations: [String] { configurationEntities.keys.sorted() }

    /// What Core Data calls the configuration of all entities, which has no name.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The entities of a configuration, and those that inherit from them where no other configuration has them; nil where the model has none of
    /// this name.
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
        precondition(!isFrozen, ModelMessages.frozen)
        configurationEntities[configuration] = entities.compactMap(\.name)
    }

    final func setEntityNames(_ names: [String], forConfigurationName configuration: String) {
        configurationEntities[configuration] = names
    }

    // MARK: Versions

    open var entityVersionHashesByName: [String: Data] {
        entitiesByName.mapValues(\.versionHash)
    }

    /// One string that is equal exactly where all the version hashes are.
    open var versionChecksum: String {
        frozenChecksum ?? Self.checksum(of: entityVersionHashesByName)
    }

    /// The checksum of a model whose entities have these version hashes.
    static func checksum(of hashes: [String: Data]) -> String {
        var bytes: [UInt8] = []
        for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
            bytes.append(contentsOf: name.utf8)
            bytes.append(0)
            bytes.append(contentsOf: hash)
        }
        return Data(SHA256.hash(bytes)).base64EncodedString()
    }

    /// The checksums of all versions of a model, an `.xcdatamodeld` or a `.momd`, by the versions' names.
    /// - Throws: where there is no model, or a version does not load.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/checksumsforversionedmodel(at:)
    open class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        let versions = ModelFile.versions(of: modelURL)
        return Dictionary(try versions.map { url in
            (url.deletingPathExtension().lastPathComponent, try load(contentsOf: url).versionChecksum)
        }) { first, _ in first }
    }

    /// Whether a store with this metadata was made with the same entities.
    open func isConfiguration(withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]) -> Bool {
        guard let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data],
            let entities = entities(forConfigurationName: configuration)
        else { return false }
        let wanted = Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }) { first, _ in first }
        return wanted == stored
    }

    // MARK: Freezing and copying

    /// Fixes the model for use; called by coordinators.
    final func freeze() {
        guard !isFrozen else { return }
        isFrozen = true
        for entity in list { entity.freeze() }
        hasComposites = list.contains(where: \.hasComposites)
        hasNamesakes = findNamesakes()
        frozenByName = entitiesByName
        frozenChecksum = versionChecksum
    }

    /// Whether both have equal entities, configurations, fetch requests and version identifiers: two loads of one file are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return self === other || entities.count == other.entities.count && ModelContents.facts(of: self) == ModelContents.facts(of: other)
    }

    /// Of the entities' names.
    open override var hash: Int { Set(entities.map(\.name)).hashValue }

    /// A copy that can be changed.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSManagedObjectModel()
        // A document made of a model describes a valid model again; if the original was not valid, neither is the copy.
        _ = try? ModelBuilder(ModelDocument(self)).build(into: copy)
        copy.takeRest(of: self)
        copy.coreDataHashes = coreDataHashes
        return copy
    }
}

extension NSManagedObjectModel {
    /// Takes over what a document does not have of the model that it was made of: predicates but for the limits that model files know,
    /// default values and user info that are no texts, and requests as they are.
    final func takeRest(of original: NSManagedObjectModel) {
        let entities = entitiesByName
        for entity in original.entities {
            guard let twin = entities[entity.name ?? ""] else { continue }
            twin.userInfo = entity.userInfo
            let twins = twin.propertiesByName
            for property in entity.statedProperties {
                guard let twin = twins[property.name] else { continue }
                twin.takeRest(of: property)
                if let fetched = twin as? NSFetchedPropertyDescription {
                    fetched.fetchRequest = self.twin((property as? NSFetchedPropertyDescription)?.fetchRequest)
                }
            }
        }
        for (name, request) in original.fetchRequestTemplatesByName { setTemplate(twin(request), name) }
        versionIdentifiers.formUnion(original.versionIdentifiers)
    }

    /// The same request for this model's entity.
    private final func twin(_ request: NSFetchRequest<any NSFetchRequestResult>?) -> NSFetchRequest<any NSFetchRequestResult>? {
        request.map { $0.twin(of: $0.entityName.flatMap { entitiesByName[$0] }) }
    }

    /// The model as bytes; the same for equal models. Every store carries its model, so that it describes itself.
    ///
    /// JSON with sorted keys of `ModelDocument`: FORMAT.md, "How the stack uses tables".
    func archivedBytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return Array(try encoder.encode(ModelDocument(self)))
    }

    /// - Throws: where the bytes are not a model, or one that contradicts itself.
    static func unarchive(_ bytes: UnsafeRawBufferPointer) throws -> NSManagedObjectModel {
        try ModelBuilder(try JSONDecoder().decode(ModelDocument.self, from: Data(bytes))).build(into: nil)
    }
}

extension NSPropertyDescription {
    fileprivate final func takeRest(of original: NSPropertyDescription) {
        setValidation(original.validationPredicates, warnings: original.validationWarnings)
        userInfo = original.userInfo
        guard let mine = self as? NSAttributeDescription, let theirs = original as? NSAttributeDescription else { return }
        mine.defaultValue = theirs.defaultValue
        guard let composite = mine as? NSCompositeAttributeDescription, let other = theirs as? NSCompositeAttributeDescription else { return }
        for (element, original) in zip(composite.elements, other.elements) { element.takeRest(of: original) }
    }
}
