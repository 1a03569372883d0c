import Foundation

/// A kind of object: its properties, its place in the inheritance tree, its class.
/// Source: https://developer.apple.com/documentation/coredata/nsentitydescription
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: see NSPropertyDescription.

    public final var name: String? { willSet { checkEditable() } }
    /// The class of the entity's objects; "NSManagedObject" where it has none of its own.
    open var managedObjectClassName: String! = "NSManagedObject" { willSet { checkEditable() } }
    public final var isAbstract = false { willSet { checkEditable() } }
    public internal(set) final var superentity: NSEntityDescription? {
        get { ancestor?.takeUnretainedValue() }
        set { ancestor = newValue.map(Unmanaged.passUnretained) }
    }
    /// The superentity takes it back before it goes; see `NSPropertyDescription.owner`.
    private var ancestor: Unmanaged<NSEntityDescription>?
    /// The model that the entity is part of.
    /// - Precondition: it is part of one, which is still there.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else { preconditionFailure("The entity \(name ?? "?") is part of no model, or the model is gone.") }
        return model
    }
    /// The same; nil for none.
    final weak var model: NSManagedObjectModel?
    /// What the program notes; empty at first. It may change while the model is in use, on one thread at a time.
    open var userInfo: [AnyHashable: Any]? = [:]
    open var renamingIdentifier: String? {
        get { statedRenamingIdentifier ?? name }
        set { statedRenamingIdentifier = newValue }
    }

    /// nil where it is the name.
    package final var statedRenamingIdentifier: String? { willSet { checkEditable() } }
    open var versionHashModifier: String? { willSet { checkEditable() } }
    /// What fetches should be able to look up without visiting every row.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { checkEditable() }
        didSet {
            for index in oldValue where index.entity === self { index.owner = nil }
            for index in indexes { index.owner = .passUnretained(self) }
        }
    }
    /// Each a list of attributes (by name or description) whose values together must be unique among the entity's objects.
    open var uniquenessConstraints: [[Any]] = [] { willSet { checkEditable() } }

    private var ownProperties: [NSPropertyDescription] = []
    /// What stands for the elements of its composite attributes; set when the model is frozen.
    private var elementAttributes: [NSPropertyDescription] = []
    private var ownSubentities: [NSEntityDescription] = []
    final var isFrozen = false
    /// Inherited properties first, behind a composite attribute its elements; set when the model is frozen.
    final var frozenProperties: [NSPropertyDescription] = []
    /// Without the elements of composites; set when the model is frozen.
    private var frozenPublicProperties: [NSPropertyDescription] = []
    /// Whether it, or an entity that it inherits from, has composite attributes.
    final var hasComposites = false
    final var propertyIndexByName: [String: Int] = [:]
    final var frozenVersionHash: Data?
    /// Which properties the key paths of its classes read; see `KeyPathReading`.
    final let keyPathReadings = KeyPathReadings()
    final let checkedFormats = CheckedFormats()

    /// Of a copy: the name of the entity that the original inherits from; see `copy(with:)`.
    final var superentityOfOriginal: String?
    final var isCopy = false

    public override init() {
        super.init()
    }

    /// Whether both say the same of themselves and of their properties, and name the same relatives: of two loads of one file all
    /// entities are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return self === other || name == other.name && ModelContents.facts(of: self) == ModelContents.facts(of: other)
    }

    /// Of the name. An entity whose name changes while it is in a set is not found there any more.
    open override var hash: Int { name.hashValue }

    /// A copy that can be changed: of the entity and of what it states itself, without the entities that inherit from it.
    ///
    /// Copies become relatives by name, when they get into a model: there a copy inherits from the entity that has the name of
    /// the original's superentity, and its relationships lead to entities that have the names of their destinations. So
    /// `model.entities = other.entities.map { $0.copy() as! NSEntityDescription }` makes a model of its own.
    /// Until then, and where the model has none of the name, destinations and inverses are the original's.
    open func copy(with zone: NSZone? = nil) -> Any { twin() }

    private func checkEditable() {
        precondition(!isFrozen, ModelMessages.frozen)
    }

    /// The entity's properties, inherited ones included. Setting it states the entity's own.
    open var properties: [NSPropertyDescription] {
        get { isFrozen ? frozenPublicProperties : (superentity?.properties ?? []) + ownProperties }
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
    }

    /// The properties that this entity states itself.
    final var statedProperties: [NSPropertyDescription] { ownProperties }

    /// The entities that inherit from this one directly.
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

    /// 32 bytes that change with everything that matters to how objects are stored.
    open var versionHash: Data { frozenVersionHash ?? VersionHash.hash(of: self) }

    // MARK: Freezing

    /// Fixes the order of properties. The superentity is frozen first, so that an inherited property has one index.
    final func freeze() {
        guard !isFrozen else { return }
        superentity?.freeze()
        frozenPublicProperties = (superentity?.frozenPublicProperties ?? []) + ownProperties
        let columns = elementColumns()
        frozenProperties = (superentity?.frozenProperties ?? []) + columns.properties
        hasComposites = superentity?.hasComposites == true || columns.hasComposites
        for (index, property) in frozenProperties.enumerated() {
            property.index = index
            propertyIndexByName[property.name] = index
        }
        frozenVersionHash = VersionHash.hash(of: self)
        isFrozen = true
        for property in columns.properties {
            property.isFrozen = true
            (property as? NSCompositeAttributeDescription)?.freezeElements()
            property.check = PropertyCheck(property)
        }
        for entity in ownSubentities { entity.freeze() }
    }

    /// Its own properties, each composite followed by its elements.
    private func elementColumns() -> (properties: [NSPropertyDescription], hasComposites: Bool) {
        guard ownProperties.contains(where: { $0 is NSCompositeAttributeDescription }) else { return (ownProperties, false) }
        let all = ownProperties.flatMap { property in [property] + ((property as? NSCompositeAttributeDescription)?.flattened() ?? []) }
        for property in all where property.owner == nil { property.owner = .passUnretained(self) }
        elementAttributes = all.filter { element in !ownProperties.contains { $0 === element } }
        return (all, true)
    }

    open override var description: String { "<NSEntityDescription \(name ?? "?")>" }
}
