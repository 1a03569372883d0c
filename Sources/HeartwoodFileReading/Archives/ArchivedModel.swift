/// The structure of an archived NSManagedObjectModel: its entities, and the properties that each adds to its superentity's.
///
/// Xcode's compiler makes such an archive (a `.mom`), and Core Data keeps one in a store, its model cache. They differ: a cache's dictionary of
/// entities shares its keys, and its entities repeat the properties that they inherit, as copies or as proxies.
/// Apple does not document the layout. It was read from the files of both kinds.
package struct ArchivedModel {
    package struct Entity {
        package let name: String
        package let object: KeyedArchive.Object
        package let parent: String?
        /// Sorted by name.
        package let properties: [Property]
    }

    package struct Property {
        package let name: String
        package let object: KeyedArchive.Object
        package let kind: Kind
    }

    package enum Kind { case attribute, derivedAttribute, compositeAttribute, relationship, fetchedProperty }

    package static let className = "NSManagedObjectModel"

    package let root: KeyedArchive.Object
    /// Sorted by name.
    package let entities: [Entity]
    private let archive: KeyedArchive

    package init(_ archive: KeyedArchive) throws {
        self.archive = archive
        root = try archive.root()
        guard root.className == Self.className else {
            throw archive.failure("holds an archived \(root.className.isEmpty ? "object" : root.className), not a model")
        }
        var entities: [Entity] = []
        for (name, member) in try root.entries("NSEntities") {
            guard let entity = try member.object(), entity.className == "NSEntityDescription" else {
                throw archive.failure("the entity \(name) is no entity")
            }
            entities.append(try Self.entity(entity, name: name, archive))
        }
        guard !entities.isEmpty || root.has("NSEntities") else { throw archive.failure("the model has no list of entities") }
        self.entities = entities
    }

    private static func entity(_ object: KeyedArchive.Object, name: String, _ archive: KeyedArchive) throws -> Entity {
        let name = try object.text("NSEntityName") ?? name
        let inherited = try inheritedNames(object)
        var properties: [Property] = []
        for (key, member) in try object.entries("NSProperties") where !inherited.contains(key) {
            guard let listed = try member.object() else { throw archive.failure("the property \(name).\(key) is none") }
            guard let own = try own(listed, of: object) else { continue }
            guard let kind = Kind(className: own.className) else {
                throw archive.failure("the property \(name).\(key) is of the unknown class \"\(own.className)\"")
            }
            properties.append(Property(name: try own.text("NSPropertyName") ?? key, object: own, kind: kind))
        }
        return Entity(name: name, object: object, parent: try object.object("NSSuperentity")?.text("NSEntityName"), properties: properties)
    }

    /// Follows a proxy to its property.
    /// - Returns: nil for a property that the entity lists, and another one owns.
    private static func own(_ property: KeyedArchive.Object, of entity: KeyedArchive.Object) throws -> KeyedArchive.Object? {
        guard property.className != "_NSPropertyDescriptionProxy" else { return try property.object("NSUnderlyingProperty") }
        guard let owner = try property.object("NSEntity") else { return property }
        return owner.number == entity.number ? property : nil
    }

    /// The names of the properties that an entity's ancestors list.
    private static func inheritedNames(_ object: KeyedArchive.Object) throws -> Set<String> {
        var names: Set<String> = []
        var seen: Set<Int> = [object.number], next = try object.object("NSSuperentity")
        // The caller refuses an entity that inherits from itself.
        while let parent = next, seen.insert(parent.number).inserted {
            for (name, _) in try parent.entries("NSProperties") { names.insert(name) }
            next = try parent.object("NSSuperentity")
        }
        return names
    }

    /// The elements of a composite attribute. The key of their list was not seen, so the one list of attributes is taken, under any key.
    package func elements(of composite: KeyedArchive.Object) throws -> [KeyedArchive.Object] {
        for key in composite.values.keys.sorted() {
            let members = try composite.members(key).compactMap { try $0.object() }
            if !members.isEmpty, members.allSatisfy({ Kind(className: $0.className)?.isAttribute == true }) { return members }
        }
        return []
    }
}

extension ArchivedModel.Kind {
    fileprivate init?(className: String) {
        switch className {
        case "NSAttributeDescription": self = .attribute
        case "NSDerivedAttributeDescription": self = .derivedAttribute
        case "NSCompositeAttributeDescription": self = .compositeAttribute
        case "NSRelationshipDescription": self = .relationship
        case "NSFetchedPropertyDescription": self = .fetchedProperty
        default: return nil
        }
    }

    package var isAttribute: Bool {
        switch self {
        case .attribute, .derivedAttribute, .compositeAttribute: true
        case .relationship, .fetchedProperty: false
        }
    }
}

/// The flags of an archived property. Each has a key of its own that is left out where it is false, and a bit of `_P`.
package enum ArchivedPropertyFlag: String {
    case isOptional = "NSIsOptional"
    case isTransient = "NSIsTransient"
    case isOrdered = "NSIsOrdered"
    case isIndexed = "NSIsIndexed"

    /// nil if `_P` has no bit for it.
    fileprivate var bit: Int64? {
        switch self {
        case .isOptional: 2
        case .isTransient: 8
        case .isOrdered: 0x400
        case .isIndexed: nil
        }
    }
}

extension KeyedArchive.Object {
    package func has(_ flag: ArchivedPropertyFlag) throws -> Bool {
        guard !has(flag.rawValue), let bit = flag.bit else { return try self.flag(flag.rawValue) }
        return (try integer("_P") ?? 0) & bit != 0
    }

    /// A relationship leads to at most this many objects; 0 for no limit.
    package func maxCount() throws -> Int? {
        let count = try integer("NSMaxCount") ?? 0
        // Models made in code may state -1 for no limit.
        return count == -1 ? 0 : Int(exactly: count).flatMap { $0 >= 0 ? $0 : nil }
    }

    package func destinationName() throws -> String? { try text("_NSDestinationEntityName") ?? object("NSDestinationEntity")?.text("NSEntityName") }

    /// The name of the class of an entity's objects; nil where none is stated.
    package func entityClassName() throws -> String? { try text("NSClassNameForEntity") }
}

extension ArchivedModel {
    /// The most bytes of the archive in a model cache. The largest cache that was seen has 294,055.
    package static let cacheSizeMax = 64 << 20

    /// The keyed archive in a model cache, `Z_MODELCACHE.Z_CONTENT` of a store. Core Data deflates it, without zlib's header.
    package static func archive(inCache bytes: [UInt8]) throws(InflateFault) -> [UInt8] {
        try Inflater.inflate(bytes, sizeMax: cacheSizeMax).bytes
    }
}
