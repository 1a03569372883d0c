import Foundation
internal import HeartwoodFileReading

/// A reader of `.mom` files, Xcode's compiled models, and of the model caches in Core Data's stores. Both are keyed archives of the
/// descriptions, which become the same document as a model's XML.
///
/// Apple does not document the layout. Entities, attributes (types, defaults, flags, transformers), relationships, uniqueness
/// constraints, fetch and compound indexes, user info, identifiers and fetch requests were read from files that Xcode made. Partial
/// indexes, indexes over expressions, configurations, validation predicates, derived and fetched properties were read from model caches.
/// None of these had a composite attribute. Keys that are not named here are ignored. Elements and properties are sorted by name.
struct CompiledModelReader {
    private let archive: KeyedArchive
    let path: String
    /// Whether to read only the statements that say how a store keeps its objects: no defaults, rules, indexes, requests and derivations.
    let isForRowsOnly: Bool

    init(_ archive: KeyedArchive, path: String, isForRowsOnly: Bool = false) {
        self.archive = archive
        self.path = path
        self.isForRowsOnly = isForRowsOnly
    }

    init(_ bytes: [UInt8], path: String, isForRowsOnly: Bool = false) throws {
        self.init(try KeyedArchive(bytes, path: path), path: path, isForRowsOnly: isForRowsOnly)
    }

    func failure(_ message: String) -> NSError { ModelFile.failure("\(path): \(message)") }

    func read() throws -> ModelDocument {
        let model = try ArchivedModel(archive), root = model.root
        var document = ModelDocument()
        document.source = path
        document.entities = try model.entities.map { try entity($0, of: model) }
        document.configurations = try configurations(root)
        let identifiers = try root.members("NSVersionIdentifiers").compactMap { try $0.text() }.filter { !$0.isEmpty }
        if !identifiers.isEmpty { document.versionIdentifiers = identifiers.sorted() }
        let requests = try (isForRowsOnly ? [] : root.entries("NSFetchRequestTemplates")).map { name, member in
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

    private func entity(_ archived: ArchivedModel.Entity, of model: ArchivedModel) throws -> ModelDocument.Entity {
        let object = archived.object
        var entity = ModelDocument.Entity(name: archived.name)
        entity.className = try object.entityClassName()
        entity.isAbstract = try object.flag("NSIsAbstract") ? true : nil
        entity.parent = archived.parent
        // An identifier equal to the name means that none was stated.
        entity.renamingIdentifier = try object.text("NSRenamingIdentifier").flatMap { $0 == entity.name ? nil : $0 }
        entity.versionHashModifier = try object.text("NSVersionHashModifier")
        entity.userInfo = try userInfo(object)
        for property in archived.properties { try add(property, of: model, to: &entity) }
        let constraints = try object.members("NSUniqueTuples").map { tuple in
            try tuple.members().compactMap { try $0.text() ?? $0.object()?.text("NSPropertyName") }
        }.filter { !$0.isEmpty }
        if !constraints.isEmpty { entity.uniquenessConstraints = constraints }
        let indexes = try isForRowsOnly ? [] : indexes(archived)
        if !indexes.isEmpty { entity.indexes = indexes }
        return entity
    }

    func userInfo(_ object: KeyedArchive.Object) throws -> [String: String]? {
        var result: [String: String] = [:]
        for (key, value) in try object.entries("NSUserInfo") { result[key] = try value.text() }
        return result.isEmpty ? nil : result
    }

    /// Before macOS 10.13 an entity had compound indexes, and attributes that were indexed by themselves. Later models state these besides.
    private func indexes(_ archived: ArchivedModel.Entity) throws -> [ModelDocument.Index] {
        guard !archived.object.has("NSFetchIndexDescriptions") else {
            return try archived.object.members("NSFetchIndexDescriptions").compactMap { try index($0, of: archived.name) }
        }
        let single = try archived.properties.filter { try $0.kind.isAttribute && $0.object.has(.isIndexed) }.map { [$0.name] }
        let compound = try archived.object.members("NSCompoundIndexes").map { try $0.members().compactMap { try $0.text() } }
        return (single + compound.filter { !$0.isEmpty }).map { names in
            let elements = names.map { ModelDocument.Index.Element(property: $0, isAscending: true) }
            return ModelDocument.Index(name: names.joined(separator: "_"), elements: elements)
        }
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
