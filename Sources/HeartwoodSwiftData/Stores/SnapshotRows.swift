import Foundation
import Heartwood

/// A model of a program's store, as an incremental store's node has it.
struct SnapshotRow {
    /// Attributes' values, and the IDs of to-one destinations.
    var values: [String: Any] = [:]
    /// The IDs of to-many destinations.
    var members: [String: [NSManagedObjectID]] = [:]
    var version: UInt64 = 0

    /// Whether both have the same values, whatever their versions are.
    func hasValues(of other: SnapshotRow) -> Bool {
        members == other.members && NSDictionary(dictionary: values).isEqual(NSDictionary(dictionary: other.values))
    }
}

/// Makes rows of snapshots, and checks them: a program's store may answer anything.
struct SnapshotRows {
    let mapped: MappedModel
    let storeIdentifier: String
    /// The object of an identifier of the store; throws if it can be none.
    let objectID: (PersistentIdentifier) throws -> NSManagedObjectID

    /// - Throws: `DecodingError` for a value that is none of the property's type, for a missing one, and for an identifier of no destination.
    func row(_ parts: SnapshotParts, _ entity: NSEntityDescription) throws -> SnapshotRow {
        var row = SnapshotRow()
        for place in mapped.entity(entity).allPlaces where place.index >= 0 && !place.property.isTransient {
            let property = place.property
            let known = parts.values[property.name].flatMap(Unwrapping.value)
            let value = try (known ?? SnapshotDefaults.value(of: property, at: path(parts, property))).flatMap(Unwrapping.value)
            switch property.kind {
            case .attribute(let coding):
                row.values[property.name] = try value.flatMap { try managed($0, coding, parts, property) } ?? NSNull()
            case .toOne: row.values[property.name] = try value.map { try destination($0, parts, property, entity) } ?? NSNull()
            case .toMany: row.members[property.name] = try value.map { try members($0, parts, property, entity) } ?? []
            case .unfit: continue
            }
        }
        return row
    }

    private func path(_ parts: SnapshotParts, _ property: ModelProperty) -> [any CodingKey] {
        [DataStoreSnapshotCodingKey.modeledProperty("\(parts.identifier.entityName).\(property.name)")]
    }

    private func wrong(_ value: Any, _ parts: SnapshotParts, _ property: ModelProperty, _ what: String) -> DecodingError {
        .typeMismatch(property.valueType, .init(
            codingPath: path(parts, property),
            debugDescription: "The store \(storeIdentifier) gave \(value) for \(property.name) of \(parts.identifier), which is \(what)."))
    }

    // MARK: Attributes

    private func managed(_ value: Any, _ coding: any AttributeCoding, _ parts: SnapshotParts, _ property: ModelProperty) throws -> Any? {
        if coding.takes(value) { return coding.form.nested(try coding.objectOfAny(value), property.name) }
        // A snapshot of the program's own type may keep a value in another form, such as an enumeration's raw value.
        guard let other = value as? any Encodable, let type = coding.valueType as? any Decodable.Type,
            let recoded = try? Self.recoded(other, type), coding.takes(recoded)
        else { throw wrong(value, parts, property, "no \(property.valueType)") }
        return coding.form.nested(try coding.objectOfAny(recoded), property.name)
    }

    private static func recoded<Value: Decodable>(_ value: any Encodable, _: Value.Type) throws -> Any {
        func data<Other: Encodable>(_ value: Other) throws -> Data { try JSONForm.encode([value]) }
        return try JSONForm.decode([Value].self, from: data(value))[0]
    }

    // MARK: Relationships

    private func destination(
        _ value: Any, _ parts: SnapshotParts, _ property: ModelProperty, _ entity: NSEntityDescription
    ) throws -> NSManagedObjectID {
        guard let identifier = value as? PersistentIdentifier, let relationship = entity.relationshipsByName[property.name],
            let wanted = relationship.destinationEntity
        else { throw wrong(value, parts, property, "no identifier") }
        let id = try objectID(identifier)
        guard id.entity.isKindOf(entity: wanted) else { throw wrong(identifier, parts, property, "no \(wanted.name ?? "destination")") }
        return id
    }

    private func members(
        _ value: Any, _ parts: SnapshotParts, _ property: ModelProperty, _ entity: NSEntityDescription
    ) throws -> [NSManagedObjectID] {
        let list: [Any]
        switch value {
        case let array as [Any]: list = array
        case let set as Set<PersistentIdentifier>: list = Array(set)
        default: throw wrong(value, parts, property, "no array of identifiers")
        }
        var known: Set<NSManagedObjectID> = []
        return try list.map { try destination($0, parts, property, entity) }.filter { known.insert($0).inserted }
    }
}

extension AttributeCoding {
    func takes(_ value: Any) -> Bool { value is Value }
}

extension AttributeForm {
    /// The value as a managed object has it: an enumeration is a dictionary of one element with its own name.
    func nested(_ value: Any?, _ name: String) -> Any? {
        guard let value else { return nil }
        switch self {
        case .scalar, .json, .transformable: return value
        case .raw: return [name: value]
        case .composite(let elements, _):
            guard let parts = value as? [String: Any] else { return nil }
            var result: [String: Any] = [:]
            for element in elements { result[element.name] = element.form.nested(parts[element.name], element.name) }
            return result
        }
    }
}
