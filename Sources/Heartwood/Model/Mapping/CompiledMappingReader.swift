import Foundation
internal import HeartwoodFileReading

/// A reader of `.cdm` files, Xcode's compiled mapping models. Such a file is a keyed archive of the mappings.
///
/// Apple does not document the layout; it was read from a file that Xcode made. The mappings name versions of entities by Core Data's hashes.
/// Xcode writes out what its editor had left to the models, so a property without an expression keeps its default.
struct CompiledMappingReader {
    private let archive: KeyedArchive
    private let path: String

    init(_ bytes: [UInt8], path: String) throws {
        archive = try KeyedArchive(bytes, path: path)
        self.path = path
    }

    private func failure(_ message: String) -> NSError { ModelFile.failure("\(path): \(message)") }

    func read() throws -> MappingDocument {
        let root = try archive.root()
        guard root.className == "NSMappingModel" else {
            throw failure("holds an archived \(root.className.isEmpty ? "object" : root.className), not a mapping model.")
        }
        guard root.has("NSEntityMappings") else { throw failure("the mapping model has no list of mappings.") }
        var document = MappingDocument()
        document.isCompiled = true
        document.entities = try root.members("NSEntityMappings").map { member in
            guard let mapping = try member.object(), mapping.className == "NSEntityMapping" else { throw failure("a mapping is missing.") }
            return try entity(mapping)
        }
        return document
    }

    private func entity(_ object: KeyedArchive.Object) throws -> MappingDocument.Entity {
        let source = try object.text("NSSourceEntityName"), destination = try object.text("NSDestinationEntityName")
        let name = try object.text("NSMappingName") ?? [source, destination].compactMap(\.self).joined(separator: "To")
        guard let number = UInt(exactly: try object.integer("NSMappingType") ?? 0), let type = NSEntityMappingType(rawValue: number) else {
            throw failure("the mapping \(name) is of an unknown type.")
        }
        return MappingDocument.Entity(
            name: name, source: source, destination: destination, type: type, policy: try object.text("NSEntityMigrationPolicyClassName"),
            sourceExpression: try expression("NSSourceExpression", of: object, "the source of \(name)"),
            attributes: try properties("NSAttributeMappings", of: object, name),
            relationships: try properties("NSRelationshipMappings", of: object, name), userInfo: try userInfo(object),
            sourceHash: try object.data("NSSourceEntityVersionHash"), destinationHash: try object.data("NSDestinationEntityVersionHash"))
    }

    private func properties(_ key: String, of object: KeyedArchive.Object, _ entity: String) throws -> [MappingDocument.Property] {
        try object.members(key).map { member in
            guard let mapping = try member.object(), let name = try mapping.text("NSDestinationPropertyName") else {
                throw failure("\(entity) has a mapping of no property.")
            }
            return MappingDocument.Property(
                name: name, expression: try expression("NSValueExpression", of: mapping, "\(entity).\(name)"), userInfo: try userInfo(mapping))
        }
    }

    private func expression(_ key: String, of object: KeyedArchive.Object, _ element: String) throws -> ExpressionNode? {
        try object.object(key).map { try CompiledPredicateReader(path: path, of: element).expression($0) }
    }

    private func userInfo(_ object: KeyedArchive.Object) throws -> [AnyHashable: Any]? {
        var info: [AnyHashable: Any] = [:]
        for (key, value) in try object.entries("NSUserInfo") { info[key] = try value.plain() }
        return info.isEmpty ? nil : info
    }
}
