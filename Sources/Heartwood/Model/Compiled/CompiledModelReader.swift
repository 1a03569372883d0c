import Foundation

/// A reader of `.mom` files, Xcode's compiled models. Such a file is a keyed archive of the descriptions; it becomes the same document as a
/// model's XML.
///
/// Apple does not document the layout. Entities, attributes (types, defaults, flags, transformers), relationships, uniqueness
/// constraints, fetch and compound indexes, user info, identifiers and fetch requests were read from files that Xcode made. Partial
/// indexes, indexes over expressions, configurations, validation predicates, derived and fetched properties were read from the models that
/// Core Data archives in its stores. None of these had a composite attribute. Its keys are assumed to be those of the descriptions' own
/// coding; other keys are ignored. Elements and properties are sorted by name.
struct CompiledModelReader {
    private let archive: KeyedArchive
    let path: String

    init(_ archive: KeyedArchive, path: String) {
        self.archive = archive
        self.path = path
    }

    init(_ bytes: [UInt8], path: String) throws { self.init(try KeyedArchive(bytes, path: path), path: path) }

    func failure(_ message: String) -> NSError { ModelFile.failure("\(path): \(message)") }

    func read() throws -> ModelDocument {
        let root = try archive.root()
        guard root.className == "NSManagedObjectModel" else {
            throw failure("holds an archived \(root.className.isEmpty ? "object" : root.className), not a model.")
        }
        var document = ModelDocument()
        document.source = path
        for (name, member) in try root.entries("NSEntities") {
            guard let entity = try member.object(), entity.className == "NSEntityDescription" else {
                throw failure("the entity \(name) is no entity.")
            }
            document.entities.append(try self.entity(entity, name: name))
        }
        guard !document.entities.isEmpty || root.has("NSEntities") else { throw failure("the model has no list of entities.") }
        document.configurations = try configurations(root)
        let identifiers = try root.members("NSVersionIdentifiers").compactMap { try $0.text() }.filter { !$0.isEmpty }
        if !identifiers.isEmpty { document.versionIdentifiers = identifiers.sorted() }
        let requests = try root.entries("NSFetchRequestTemplates").map { name, member in
            guard let request = try member.object() else { throw failure("the fetch request \(name) is missing.") }
            return try self.request(request, name: name, of: "the fetch request \(name)")
        }
        if !requests.isEmpty { document.fetchRequests = requests }
        return document
    }

    /// By name; each is a collection of entities or of their names.
    private func configurations(_ root: KeyedArchive.Object) throws -> [String: [String]]? {
        var result: [String: [String]] = [:]
        for (name, members) in try root.entries("NSConfigurations") {
            result[name] = try members.members().compactMap { try $0.text() ?? $0.object()?.text("NSEntityName") }.sorted()
        }
        return result.isEmpty ? nil : result
    }

    private func entity(_ object: KeyedArchive.Object, name: String) throws -> ModelDocument.Entity {
        var entity = ModelDocument.Entity(name: try object.text("NSEntityName") ?? name)
        entity.className = try object.text("NSClassNameForEntity")
        entity.isAbstract = try object.flag("NSIsAbstract") ? true : nil
        entity.parent = try object.object("NSSuperentity")?.text("NSEntityName")
        // An identifier equal to the name means that none was stated.
        entity.renamingIdentifier = try object.text("NSRenamingIdentifier").flatMap { $0 == entity.name ? nil : $0 }
        entity.versionHashModifier = try object.text("NSVersionHashModifier")
        entity.userInfo = try userInfo(object)
        let inherited = try inheritedNames(object)
        for (name, member) in try object.entries("NSProperties") {
            guard let property = try member.object() else { throw failure("the property \(entity.name).\(name) is missing.") }
            // An entity also lists inherited properties. Such a property names another owner, is a proxy, or is a copy.
            if let owner = try property.object("NSEntity"), owner.number != object.number { continue }
            if inherited.contains(name) || property.className == "_NSPropertyDescriptionProxy" { continue }
            try add(property, name: name, to: &entity)
        }
        let constraints = try object.members("NSUniqueTuples").map { tuple in
            try tuple.members().compactMap { try $0.text() ?? $0.object()?.text("NSPropertyName") }
        }.filter { !$0.isEmpty }
        if !constraints.isEmpty { entity.uniquenessConstraints = constraints }
        let indexes = try object.members("NSFetchIndexDescriptions").compactMap { try index($0, of: entity.name) }
        if !indexes.isEmpty { entity.indexes = indexes }
        return entity
    }

    func userInfo(_ object: KeyedArchive.Object) throws -> [String: String]? {
        var result: [String: String] = [:]
        for (key, value) in try object.entries("NSUserInfo") { result[key] = try value.text() }
        return result.isEmpty ? nil : result
    }

    /// The names of the properties that an entity's ancestors list.
    private func inheritedNames(_ object: KeyedArchive.Object) throws -> Set<String> {
        var names: Set<String> = []
        var seen: Set<Int> = [object.number], next = try object.object("NSSuperentity")
        // An entity that inherits from itself is refused later.
        while let parent = next, seen.insert(parent.number).inserted {
            for (name, _) in try parent.entries("NSProperties") { names.insert(name) }
            next = try parent.object("NSSuperentity")
        }
        return names
    }

    private func index(_ member: KeyedArchive.Member, of entity: String) throws -> ModelDocument.Index? {
        guard let index = try member.object() else { return nil }
        let name = try index.text("NSIndexName") ?? ""
        let reader = CompiledPredicateReader(path: path, of: "the index \(entity).\(name)")
        let elements = try index.members("NSIndexElements").compactMap { try $0.object() }.map { element in
            var made = ModelDocument.Index.Element(isAscending: try element.flag("NSAscending"))
            made.collation = try element.integer("NSFetchIndexElementType").flatMap { $0 == 0 ? nil : UInt(exactly: $0) }
            // The indexed property of an expression has a made-up name.
            if let computed = try element.object("NSIndexedProperty"), let expression = try computed.object("NSExpression") {
                made.expression = PredicatePrinter.format(try reader.expression(expression))
                made.expressionType = try computed.integer("NSExpressionType").flatMap { $0 == 0 ? nil : UInt(exactly: $0) }
            } else {
                guard let property = try element.text("NSPropertyName") else { throw failure("the index \(entity).\(name) is over nothing.") }
                made.property = property
            }
            return made
        }
        let predicate = try index.object("NSPartialIndexPredicate").map { PredicatePrinter.format(try reader.predicate($0)) }
        return elements.isEmpty ? nil : ModelDocument.Index(name: name, elements: elements, predicate: predicate)
    }
}
