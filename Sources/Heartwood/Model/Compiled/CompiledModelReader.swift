import Foundation

/// Reads a `.mom`, as Xcode compiles a model: a keyed archive of the descriptions, into the same document as a model's XML.
///
/// Apple does not document the layout. Entities, attributes (types, defaults, flags, transformers), relationships, uniqueness
/// constraints, fetch and compound indexes, user info, identifiers and fetch requests were read from files that Xcode made. Those that
/// were at hand had no abstract entity, no validation predicate, no configuration, no derived, composite or fetched property; of these
/// the keys are as the descriptions' own coding names them, and what is archived otherwise is not seen. Elements and properties come
/// in the order of their names.
struct CompiledModelReader {
    private let archive: KeyedArchive
    let path: String

    init(_ bytes: [UInt8], path: String) throws {
        archive = try KeyedArchive(bytes, path: path)
        self.path = path
    }

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
            guard let request = try member.object() else { throw failure("the fetch request \(name) is none.") }
            return try self.request(request, name: name, of: "the fetch request \(name)")
        }
        if !requests.isEmpty { document.fetchRequests = requests }
        return document
    }

    /// By name, each a collection of entities or of their names.
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
        // Where nothing else is stated, the identifier is the name.
        entity.renamingIdentifier = try object.text("NSRenamingIdentifier").flatMap { $0 == entity.name ? nil : $0 }
        entity.versionHashModifier = try object.text("NSVersionHashModifier")
        entity.userInfo = try userInfo(object)
        for (name, member) in try object.entries("NSProperties") {
            guard let property = try member.object() else { throw failure("the property \(entity.name).\(name) is none.") }
            // An entity lists what it inherits too; the property says whose it is.
            if let owner = try property.object("NSEntity"), owner.number != object.number { continue }
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

    private func index(_ member: KeyedArchive.Member, of entity: String) throws -> ModelDocument.Index? {
        guard let index = try member.object() else { return nil }
        let name = try index.text("NSIndexName") ?? ""
        guard try index.object("NSPartialIndexPredicate") == nil else {
            throw failure("the index \(entity).\(name) is partial; partial indexes of compiled models are not supported yet.")
        }
        let elements = try index.members("NSIndexElements").compactMap { try $0.object() }.map { element in
            guard let property = try element.text("NSPropertyName") else {
                throw failure("the index \(entity).\(name) is over an expression; these are not supported yet in compiled models.")
            }
            return ModelDocument.Index.Element(property: property, isAscending: try element.flag("NSAscending"))
        }
        return elements.isEmpty ? nil : ModelDocument.Index(name: name, elements: elements)
    }
}
