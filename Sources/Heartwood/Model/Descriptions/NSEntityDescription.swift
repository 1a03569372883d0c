import Foundation

/// A kind of object: its properties, its ancestors and its class.
/// Source: https://developer.apple.com/documentation/coredata/nsentitydescription
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    public final var name: String? { willSet { checkEditable() } }
    /// The class of the entity's objects; "NSManagedObject" by default.
    open var managedObjectClassName: String! = "NSManagedObject" { willSet { checkEditable() } }
    public final var isAbstract = false { willSet { checkEditable() } }
    public internal(set) final var superentity: NSEntityDescription? {
        get { ancestor?.takeUnretainedValue() }
        set { ancestor = newValue.map(Unmanaged.passUnretained) }
    }
    /// The superentity clears this when it is freed; see `NSPropertyDescription.owner`.
    private var ancestor: Unmanaged<NSEntityDescription>?
    /// The model that contains the entity.
    /// - Precondition: a model contains it and still exists.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else { misuse("The entity \(name ?? "?") is part of no model, or the model is gone.") }
        return model
    }
    /// The model that contains the entity; nil for none.
    final weak var model: NSManagedObjectModel?
    /// Free for the program; empty at first. It may change while the model is in use, on one thread at a time.
    open var userInfo: [AnyHashable: Any]? = [:]
    open var renamingIdentifier: String? {
        get { declaredRenamingIdentifier ?? name }
        set { declaredRenamingIdentifier = newValue }
    }

    /// nil if it is the name.
    package final var declaredRenamingIdentifier: String? { willSet { checkEditable() } }
    open var versionHashModifier: String? { willSet { checkEditable() } }
    /// The indexes that let fetches find objects without reading every row.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for index in oldValue where index.entity === self { index.owner = nil }
            for index in indexes { index.owner = .passUnretained(self) }
        }
    }
    /// Lists of attributes (by name or description). The values of each list must be unique together among the entity's objects.
    open var uniquenessConstraints: [[Any]] = [] { willSet { checkEditable() } }

    private var ownProperties: [NSPropertyDescription] = []
    /// The columns for the elements of composite attributes; set when the model becomes immutable.
    private var elementAttributes: [NSPropertyDescription] = []
    private var ownSubentities: [NSEntityDescription] = []
    /// The relationships that lead to this entity.
    final var incoming = IncomingRelationships()
    final var isImmutable = false
    /// All properties, inherited ones first, each composite attribute followed by its elements; set when the model becomes immutable.
    @exclusivity(unchecked) package final var propertiesByIndex: [NSPropertyDescription] = []
    /// All properties without the elements of composites; set when the model becomes immutable.
    private var immutableProperties: [NSPropertyDescription] = []
    /// Whether this entity or an ancestor has composite attributes.
    final var hasComposites = false
    /// The property with an index, as relationships of a view are named.
    package final func property(at index: Int) -> NSPropertyDescription { propertiesByIndex[index] }
    @exclusivity(unchecked) package final var propertyIndexByName: [String: Int] = [:]
    final var knownVersionHash: Data?
    /// Maps the key paths of the entity's classes to the properties that they read; see `KeyPathReading`.
    final let keyPathReadings = KeyPathReadings()
    final let formatChecks = FormatCheckCache()

    /// In a copy, the name of the original's superentity; see `copy(with:)`.
    final var superentityOfOriginal: String?
    final var isCopy = false

    public override init() {
        super.init()
    }

    /// Whether both have equal settings, equal properties, and relatives with the same names. Two loads of one file give equal entities.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return self === other || name == other.name && ModelContents.contents(of: self) == ModelContents.contents(of: other)
    }

    /// A hash of the name. A set no longer finds an entity whose name changed after it was added.
    open override var hash: Int { name.hashValue }

    /// Returns an editable copy of the entity and of its own settings, without subentities.
    ///
    /// When copies get into a model, they are connected by name: a copy inherits from the entity with the name of the original's superentity,
    /// and its relationships lead to the entities with the names of the original destinations. So
    /// `model.entities = other.entities.map { $0.copy() as! NSEntityDescription }` makes an independent model.
    /// Before that, and if the model has no entity of that name, destinations and inverses are the original's.
    open func copy(with zone: NSZone? = nil) -> Any { duplicate() }

    private func checkEditable() {
        demand(!isImmutable, ModelMessages.immutable)
    }

    /// The entity's properties, inherited ones included. Setting it replaces the entity's own properties.
    open var properties: [NSPropertyDescription] {
        get { isImmutable ? immutableProperties : (superentity?.properties ?? []) + ownProperties }
        set {
            checkEditable()
            let inherited = superentity?.properties ?? []
            disownProperties()
            ownProperties = newValue.filter { property in !inherited.contains { $0 === property } }
            for property in ownProperties { property.owner = .passUnretained(self) }
        }
    }

    private func disownProperties() {
        for property in ownProperties + elementAttributes where property.holder === self { property.owner = nil }
    }

    deinit {
        disownProperties()
        for index in indexes where index.entity === self { index.owner = nil }
        for entity in ownSubentities where entity.superentity === self { entity.superentity = nil }
        incoming.forEach { $0.forgetDestination() }
    }

    /// The entity's own properties, without inherited ones.
    final var declaredProperties: [NSPropertyDescription] { ownProperties }

    /// The direct subentities.
    open var subentities: [NSEntityDescription] {
        get { ownSubentities }
        set {
            checkEditable()
            for entity in ownSubentities { entity.superentity = nil }
            ownSubentities = newValue
            for entity in newValue { entity.superentity = self }
        }
    }

    open var subentitiesByName: [String: NSEntityDescription] { Self.byName(subentities, \.name) }
    open var propertiesByName: [String: NSPropertyDescription] { Self.byName(properties, \.name) }

    open var attributesByName: [String: NSAttributeDescription] {
        Self.byName(properties.compactMap { $0 as? NSAttributeDescription }, \.name)
    }

    open var relationshipsByName: [String: NSRelationshipDescription] {
        Self.byName(properties.compactMap { $0 as? NSRelationshipDescription }, \.name)
    }

    private static func byName<Value>(_ values: [Value], _ name: (Value) -> String?) -> [String: Value] {
        Dictionary(values.compactMap { value in name(value).map { ($0, value) } }) { first, _ in first }
    }

    /// The relationships whose destination is `entity`.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
    }

    /// Whether this is `entity` or inherits from it.
    public final func isKindOf(entity: NSEntityDescription) -> Bool {
        var next: NSEntityDescription? = self
        while let known = next {
            if known === entity { return true }
            next = known.superentity
        }
        return false
    }

    /// 32 bytes that change with everything that affects how objects are stored.
    open var versionHash: Data { knownVersionHash ?? VersionHash.hash(of: self) }

    // MARK: Immutability

    /// Makes an entity immutable that may be in no model.
    final func makeImmutable() { ImmutableModels.alone { becomeImmutable() } }

    /// Fixes the order of properties. It makes the superentity immutable first, so that an inherited property has the same index in all entities.
    /// Called under the lock of `ImmutableModels`.
    final func becomeImmutable() {
        guard !isImmutable else { return }
        superentity?.becomeImmutable()
        // The superentity has made its subentities immutable, this one among them. Elements of composites are not made twice: subentities share them.
        guard !isImmutable else { return }
        immutableProperties = (superentity?.immutableProperties ?? []) + ownProperties
        let columns = elementColumns()
        propertiesByIndex = (superentity?.propertiesByIndex ?? []) + columns.properties
        hasComposites = superentity?.hasComposites == true || columns.hasComposites
        for (index, property) in propertiesByIndex.enumerated() {
            property.index = index
            propertyIndexByName[property.name] = index
        }
        knownVersionHash = VersionHash.hash(of: self)
        isImmutable = true
        for property in columns.properties {
            property.isImmutable = true
            (property as? NSCompositeAttributeDescription)?.makeElementsImmutable()
            property.check = PropertyCheck(property)
        }
        for entity in ownSubentities { entity.becomeImmutable() }
    }

    /// The entity's own properties, each composite followed by its elements.
    private func elementColumns() -> (properties: [NSPropertyDescription], hasComposites: Bool) {
        guard ownProperties.contains(where: { $0 is NSCompositeAttributeDescription }) else { return (ownProperties, false) }
        let all = ownProperties.flatMap { property in [property] + ((property as? NSCompositeAttributeDescription)?.flattened() ?? []) }
        for property in all where property.owner == nil { property.owner = .passUnretained(self) }
        elementAttributes = all.filter { element in !ownProperties.contains { $0 === element } }
        return (all, true)
    }

    open override var description: String { "<NSEntityDescription \(name ?? "?")>" }
}

extension NSEntityDescription {
    /// This entity and all that inherit from it, without abstract ones.
    package var concreteFamily: [NSEntityDescription] {
        guard !subentities.isEmpty else { return isAbstract ? [] : [self] }
        return (isAbstract ? [] : [self]) + subentities.flatMap(\.concreteFamily)
    }

    /// The uniqueness constraints of this entity and its ancestors, as attribute names.
    package var allUniquenessConstraints: [[String]] {
        let own = uniquenessConstraints.map { constraint in
            // A cast of a text to a class makes the runtime look for conformances of `String`.
            constraint.compactMap { type(of: $0) == String.self ? $0 as? String : ($0 as? NSPropertyDescription)?.name ?? $0 as? String }
        }
        return (superentity?.allUniquenessConstraints ?? []) + own.filter { !$0.isEmpty }
    }

    /// The topmost entity, of this one and its ancestors, that has a uniqueness constraint of this one: values are unique in its whole family.
    package func owner(ofConstraint constraint: [String]) -> NSEntityDescription {
        var entity = self
        while let parent = entity.superentity, parent.allUniquenessConstraints.contains(constraint) { entity = parent }
        return entity
    }

    /// The fetch indexes of this entity and its ancestors.
    var allIndexes: [NSFetchIndexDescription] {
        (superentity?.allIndexes ?? []) + indexes
    }
}

extension NSEntityDescription {
    /// What a message says behind a name that is none of a property: which one may be meant, and all that there are.
    package func listedProperties(besides name: String) -> String {
        let names = propertiesByName.keys.sorted()
        return "\(Spelling.suggestion(for: name, among: names)); it has \(names.isEmpty ? "no properties" : names.joined(separator: ", "))"
    }
}
