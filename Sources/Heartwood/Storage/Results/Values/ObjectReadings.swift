import Foundation
import RecordLog

/// Reads values as key-value coding returns them, and casts these to the caller's type: transformable attributes, composites, and types such as
/// `NSNumber`.
enum CastReading<Value>: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind != .toMany && kind != .toOne }

    static func fill(_ run: ValueRun) throws {
        let column = run.column, kind = column.kind ?? .undefined
        try run.fill(self) { row, cell in
            guard let access = run.leaves.access(in: row) else { return try put(column.replacement(of: row)?.object, at: cell, column) }
            guard kind == .transformable else {
                return try put(ManagedValue(row: row, access: access, kind: kind, slotBase: 0).attributeObject(kind: kind), at: cell, column)
            }
            let description = run.leaves.description(of: row)
            try put(description.flatMap { AttributeTransformer.object(Data(row.bytes(access)), of: $0) }, at: cell, column)
        }
    }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        try put(value.object(as: column.codec), at: cell, column)
    }

    private static func put(_ object: Any?, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        // A cast of an optional without a value to `Any` succeeds.
        var value: Value?
        if let object {
            value = object as? Value
            if value == nil { throw ColumnFault.unfit(column, nil) }
        }
        try column.initialize(cell, to: value)
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        column.deinitialize(cells, of: Value.self, count: count, stride: stride)
    }
}

/// Reads raw values, and makes the caller's cases of them.
enum CaseReading<Case: RawRepresentable, Raw: PlainValue>: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { Raw.takes(kind) }

    static func fill(_ run: ValueRun) throws {
        let column = run.column, kind = column.kind ?? .undefined
        try run.fill(self) { row, cell in
            guard let access = run.leaves.access(in: row) else { return try put(column.replacement(of: row).flatMap(Raw.of), at: cell, column) }
            let raw = Raw.read(row, access, kind)
            if raw == nil, !Raw.isUnfitNull { throw ColumnFault.unfit(column, nil) }
            try put(raw, at: cell, column)
        }
    }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        let raw = Raw.of(value)
        if raw == nil, !value.isNull, !Raw.isUnfitNull { throw ColumnFault.unfit(column, nil) }
        try put(raw, at: cell, column)
    }

    /// A raw value of no case counts as null where the caller's type can say so, as for the object's accessor.
    private static func put(_ raw: Raw?, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        let found = (raw as? Case.RawValue).flatMap { Case(rawValue: $0) }
        if found == nil, raw != nil, !column.isOptional { throw ColumnFault.unfit(column, nil) }
        try column.initialize(cell, to: found)
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        column.deinitialize(cells, of: Case.self, count: count, stride: stride)
    }
}

/// IDs of objects: of the object itself, or of a to-one relationship's destination.
enum IDReading: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind == .toOne || kind == .objectID }

    static func fill(_ run: ValueRun) throws { preconditionFailure("an ID is computed") }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        try column.initialize(cell, to: try id(value, column))
    }

    fileprivate static func id(_ value: PredicateValue, _ column: ValueColumn) throws -> NSManagedObjectID? {
        let id: NSManagedObjectID? = switch value {
        case .objectID(let id): id
        case .object(let object): object.objectID
        default: nil
        }
        if id == nil, !value.isNull { throw ColumnFault.unfit(column, nil) }
        return id
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        column.deinitialize(cells, of: NSManagedObjectID.self, count: count, stride: stride)
    }
}

/// A type of a layer above that stands for the ID of an object.
package protocol ObjectIDWrapper {
    init(objectID: NSManagedObjectID)
}

/// IDs of objects, as a layer above has them.
enum WrappedIDReading<Wrapper: ObjectIDWrapper>: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { IDReading.takes(kind) }

    static func fill(_ run: ValueRun) throws { preconditionFailure("an ID is computed") }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        try column.initialize(cell, to: try IDReading.id(value, column).map(Wrapper.init(objectID:)))
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        column.deinitialize(cells, of: Wrapper.self, count: count, stride: stride)
    }
}

extension ValueColumn {
    /// - Parameter valueType: the caller's type, without its optional.
    /// - Throws: where such a column has no values of that type.
    static func reading(of valueType: Any.Type, _ kind: PropertyKind?, name: String, entity: NSEntityDescription) throws -> any ValueReading.Type {
        func cast<Value>(_: Value.Type) -> any ValueReading.Type { CastReading<Value>.self }
        let found: any ValueReading.Type
        if let plain = valueType as? any PlainValue.Type {
            found = plain
        } else if valueType == NSManagedObjectID.self {
            found = IDReading.self
        } else if let wrapper = valueType as? any ObjectIDWrapper.Type {
            func wrapped<Wrapper: ObjectIDWrapper>(_: Wrapper.Type) -> any ValueReading.Type { WrappedIDReading<Wrapper>.self }
            found = wrapped(wrapper)
        } else {
            func cases<Case: RawRepresentable>(_: Case.Type) -> (any ValueReading.Type)? {
                func reading<Raw: PlainValue>(_: Raw.Type) -> any ValueReading.Type { CaseReading<Case, Raw>.self }
                return (Case.RawValue.self as? any PlainValue.Type).map { reading($0) }
            }
            let representable = kind == .transformable ? nil : (valueType as? any RawRepresentable.Type).flatMap { cases($0) }
            found = representable ?? _openExistential(valueType, do: cast)
        }
        if let kind, !found.takes(kind), !(kind == .undefined && !(found is any PlainValue.Type)) {
            // A transformable's value may be a text or a number.
            if kind == .transformable { return _openExistential(valueType, do: cast) }
            let what = kind.isRelationship ? kind.displayName : "an attribute of the type \(kind.displayName)"
            var remedy = ""
            if kind == .toMany { remedy = "; ask for \(name).@count, or an aggregate such as \(name).@max and a key" }
            if kind == .toOne { remedy = "; ask for its NSManagedObjectID, or for an attribute of its destination" }
            throw CoreDataError.unsupported("\(entity.name ?? "?").\(name) is \(what), which has no values of the type \(valueType)\(remedy).")
        }
        return found
    }
}
