import Foundation

@testable import Heartwood

/// Writes mappings as a `.cdm` with the layout of Xcode's files.
struct CompiledMappingWriter {
    private var writer = CompiledModelWriter()
    private let hash: (String, _ isSource: Bool) -> Data

    /// - Parameter hash: the version hash of an entity; empty for none.
    static func bytes(_ mapping: NSMappingModel, hash: @escaping (String, _ isSource: Bool) -> Data = { _, _ in Data() }) -> [UInt8] {
        var writer = CompiledMappingWriter(hash: hash)
        return writer.write(mapping)
    }

    private init(hash: @escaping (String, Bool) -> Data) { self.hash = hash }

    private mutating func write(_ mapping: NSMappingModel) -> [UInt8] {
        let mappings = (mapping.entityMappings ?? []).map { ($0.name ?? "", entity($0)) }
        let list = writer.archive.array(mappings.map(\.1)), names = writer.archive.dictionary(mappings)
        let root = writer.archive.object("NSMappingModel", [("NSEntityMappings", list), ("NSEntityMappingsByName", names)])
        return writer.archive.finish(root: root)
    }

    private mutating func entity(_ mapping: NSEntityMapping) -> ArchiveWriter.Node {
        let source = mapping.sourceEntityName, destination = mapping.destinationEntityName
        let expression = mapping.sourceExpression.map { writer.expression($0.node) } ?? .reference(0)
        let attributes = properties(mapping.attributeMappings), relationships = properties(mapping.relationshipMappings)
        return writer.archive.object("NSEntityMapping", [
            ("NSMappingName", writer.archive.text(mapping.name)), ("NSMappingType", .integer(Int64(mapping.mappingType.rawValue))),
            ("NSSourceEntityName", writer.archive.text(source)), ("NSDestinationEntityName", writer.archive.text(destination)),
            ("NSSourceEntityVersionHash", bytes(source.map { hash($0, true) })), ("NSSourceExpression", expression),
            ("NSDestinationEntityVersionHash", bytes(destination.map { hash($0, false) })),
            ("NSEntityMigrationPolicyClassName", writer.archive.text(mapping.entityMigrationPolicyClassName)),
            ("NSUserInfo", userInfo(mapping.userInfo)), ("NSAttributeMappings", attributes), ("NSRelationshipMappings", relationships),
        ])
    }

    private mutating func bytes(_ data: Data?) -> ArchiveWriter.Node {
        guard let data, !data.isEmpty else { return .reference(0) }
        return writer.archive.add(.data(Array(data)))
    }

    private mutating func userInfo(_ info: [AnyHashable: Any]?) -> ArchiveWriter.Node {
        guard let info = info as? [String: String] else { return .reference(0) }
        return writer.archive.dictionary(info.sorted { $0.key < $1.key }.map { ($0.key, writer.archive.text($0.value)) })
    }

    private mutating func properties(_ list: [NSPropertyMapping]?) -> ArchiveWriter.Node {
        let written = (list ?? []).map { property in
            writer.archive.object("NSPropertyMapping", [
                ("NSDestinationPropertyName", writer.archive.text(property.name)), ("NSPropertyTransforms", .reference(0)),
                ("NSValueExpression", property.valueExpression.map { writer.expression($0.node) } ?? .reference(0)),
                ("NSUserInfo", userInfo(property.userInfo)),
            ])
        }
        return writer.archive.object("NSArray", [("NS.objects", .array(written))])
    }
}
