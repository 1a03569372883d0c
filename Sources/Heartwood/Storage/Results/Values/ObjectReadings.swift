import Foundation
import RecordLog

/// Reads values as key-value coding returns them, and casts these to the caller's type: transformable attributes, composites, and types such as
/// `NSNumber`.
enum CastReading<Value>: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind != .toMany && kind != .toOne }

    static func fill(_ run: ValueRun) throws {
        let column = run.column, kind = column.kind ?? .undefined
        var index = 0
        do {
            while index < run.rows.count {
                let row = run.rows[index]
                var object: Any?
                if let access = run.leaves.access(in: row) {
                    if kind == .transformable {
                        object = run.leaves.description(of: row).flatMap { AttributeTransformer.object(Data(row.bytes(access)), of: $0) }
                    } else {
                        object = ManagedValue(row: row, access: access, kind: kind, slotBase: 0).attributeObject(kind: kind)
                    }
                } else {
                    object = column.replacement(of: row)?.object
                }
                do { try put(object, at: run.start + index * run.stride, column) } catch let fault as ColumnFault { throw fault.at(row.reference) }
                index += 1
            }
        } catch {
            deinitialize(run.start, count: index, stride: run.stride, column)
            throw error
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
        if column.isOptional {
            cell.initializeMemory(as: Value?.self, to: value)
        } else {
            guard let value else { throw ColumnFault.null(column, nil) }
            cell.initializeMemory(as: Value.self, to: value)
        }
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        for index in 0..<count {
            let cell = cells + index * stride
            if column.isOptional {
                cell.assumingMemoryBound(to: Value?.self).deinitialize(count: 1)
            } else {
                cell.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
            }
        }
    }
}

/// Reads raw values, and makes the caller's cases of them.
enum CaseReading<Case: RawRepresentable, Raw: PlainValue>: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { Raw.takes(kind) }

    static func fill(_ run: ValueRun) throws {
        let column = run.column, kind = column.kind ?? .undefined
        var index = 0
        do {
            while index < run.rows.count {
                let row = run.rows[index], raw: Raw?
                if let access = run.leaves.access(in: row) {
                    raw = Raw.read(row, access, kind)
                    if raw == nil, !Raw.isUnfitNull { throw ColumnFault.unfit(column, row.reference) }
                } else {
                    raw = column.replacement(of: row).flatMap(Raw.of)
                }
                do { try put(raw, at: run.start + index * run.stride, column) } catch let fault as ColumnFault { throw fault.at(row.reference) }
                index += 1
            }
        } catch {
            deinitialize(run.start, count: index, stride: run.stride, column)
            throw error
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
        if column.isOptional {
            cell.initializeMemory(as: Case?.self, to: found)
        } else {
            guard let found else { throw raw == nil ? ColumnFault.null(column, nil) : .unfit(column, nil) }
            cell.initializeMemory(as: Case.self, to: found)
        }
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        CastReading<Case>.deinitialize(cells, count: count, stride: stride, column)
    }
}

/// IDs of objects: of the object itself, or of a to-one relationship's destination.
enum IDReading: ValueReading {
    static func takes(_ kind: PropertyKind) -> Bool { kind == .toOne || kind == .objectID }

    static func fill(_ run: ValueRun) throws { preconditionFailure("an ID is computed") }

    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        let id: NSManagedObjectID? = switch value {
        case .objectID(let id): id
        case .object(let object): object.objectID
        default: nil
        }
        if id == nil, !value.isNull { throw ColumnFault.unfit(column, nil) }
        if column.isOptional {
            cell.initializeMemory(as: NSManagedObjectID?.self, to: id)
        } else {
            guard let id else { throw ColumnFault.null(column, nil) }
            cell.initializeMemory(as: NSManagedObjectID.self, to: id)
        }
    }

    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        CastReading<NSManagedObjectID>.deinitialize(cells, count: count, stride: stride, column)
    }
}

extension ValueColumn {
    /// - Parameter valueType: the caller's type, without its optional.
    /// - Throws: where such a column has no values of that type.
    static func reading(of valueType: Any.Type, _ kind: PropertyKind?, name: String, entity: NSEntityDescription) throws -> any ValueReading.Type {
        let found: any ValueReading.Type
        if let plain = valueType as? any PlainValue.Type {
            found = plain
        } else if valueType == NSManagedObjectID.self {
            found = IDReading.self
        } else {
            func cases<Case: RawRepresentable>(_: Case.Type) -> (any ValueReading.Type)? {
                func reading<Raw: PlainValue>(_: Raw.Type) -> any ValueReading.Type { CaseReading<Case, Raw>.self }
                return (Case.RawValue.self as? any PlainValue.Type).map { reading($0) }
            }
            func cast<Value>(_: Value.Type) -> any ValueReading.Type { CastReading<Value>.self }
            let representable = kind == .transformable ? nil : (valueType as? any RawRepresentable.Type).flatMap { cases($0) }
            found = representable ?? _openExistential(valueType, do: cast)
        }
        if let kind, !found.takes(kind), !(kind == .undefined && !(found is any PlainValue.Type)) {
            // A transformable's value may be a text or a number.
            if kind == .transformable {
                func cast<Value>(_: Value.Type) -> any ValueReading.Type { CastReading<Value>.self }
                return _openExistential(valueType, do: cast)
            }
            let what = kind.isRelationship ? kind.displayName : "an attribute of the type \(kind.displayName)"
            var remedy = ""
            if kind == .toMany { remedy = "; ask for \(name).@count, or an aggregate such as \(name).@max and a key" }
            if kind == .toOne { remedy = "; ask for its NSManagedObjectID, or for an attribute of its destination" }
            throw CoreDataError.unsupported("\(entity.name ?? "?").\(name) is \(what), which has no values of the type \(valueType)\(remedy).")
        }
        return found
    }
}
