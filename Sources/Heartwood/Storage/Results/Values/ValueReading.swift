import Foundation
import RecordLog

/// Reads the values of one Swift type from columns, a batch of rows at a time.
///
/// The functions are static, so that a column calls them by a witness table that the compiler has specialised for the type: a generic class's
/// methods would read the type's layout at run time for each value.
package protocol ValueReading {
    /// Whether columns of this kind have such values.
    static func takes(_ kind: PropertyKind) -> Bool

    /// Initializes the run's cells from the columns of its rows. If it throws, no cell is initialized.
    static func fill(_ run: ValueRun) throws

    /// Initializes one cell with a computed value.
    static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws

    /// Destroys the values of the first cells.
    static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn)
}

/// A type whose values a row's bytes, or a computed value, become without an object around them.
package protocol PlainValue: ValueReading {
    /// - Returns: nil where the value does not fit the type.
    static func read(_ row: UnsafeRowView, _ access: ColumnAccess, _ kind: PropertyKind) -> Self?

    /// - Returns: nil where the value is of another type, or does not fit.
    static func of(_ value: PredicateValue) -> Self?

    /// Whether a value that does not fit counts as null, as for the object.
    static var isUnfitNull: Bool { get }
}

extension PlainValue {
    package static var isUnfitNull: Bool { false }

    package static func fill(_ run: ValueRun) throws {
        let kind = run.kind
        var index = 0
        do {
            if run.isOptional {
                while index < run.rows.count {
                    let row = run.rows[index]
                    var value: Self?
                    if let access = run.leaves.access(in: row) {
                        value = read(row, access, kind)
                        if value == nil, !isUnfitNull { throw ColumnFault.unfit(run.column, row.reference) }
                    } else {
                        value = run.replacement(of: row).flatMap(of)
                    }
                    (run.start + index &* run.stride).initializeMemory(as: Self?.self, to: value)
                    index &+= 1
                }
            } else {
                while index < run.rows.count {
                    let row = run.rows[index], value: Self
                    if let access = run.leaves.access(in: row) {
                        guard let found = read(row, access, kind) else { throw ColumnFault.unfit(run.column, row.reference) }
                        value = found
                    } else {
                        guard let found = run.replacement(of: row).flatMap(of) else { throw ColumnFault.null(run.column, row.reference) }
                        value = found
                    }
                    (run.start + index &* run.stride).initializeMemory(as: Self.self, to: value)
                    index &+= 1
                }
            }
        } catch {
            deinitialize(run.start, count: index, stride: run.stride, run.column)
            throw error
        }
    }

    package static func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, _ column: ValueColumn) throws {
        let found = of(value)
        if found == nil, !value.isNull, !isUnfitNull { throw ColumnFault.unfit(column, nil) }
        try column.initialize(cell, to: found)
    }

    package static func deinitialize(_ cells: UnsafeMutableRawPointer, count: Int, stride: Int, _ column: ValueColumn) {
        column.deinitialize(cells, of: Self.self, count: count, stride: stride)
    }
}

extension ValueColumn {
    /// Initializes a cell of this column.
    /// - Throws: `ColumnFault.null` for a value that is missing where the caller's type is not optional; the cell is not initialized then.
    func initialize<Value>(_ cell: UnsafeMutableRawPointer, to value: Value?) throws {
        if isOptional {
            cell.initializeMemory(as: Value?.self, to: value)
        } else {
            guard let value else { throw ColumnFault.null(self, nil) }
            cell.initializeMemory(as: Value.self, to: value)
        }
    }

    /// Destroys the first cells of this column.
    func deinitialize<Value>(_ cells: UnsafeMutableRawPointer, of type: Value.Type, count: Int, stride: Int) {
        for index in 0..<count {
            let cell = cells + index &* stride
            if isOptional {
                cell.assumingMemoryBound(to: Value?.self).deinitialize(count: 1)
            } else {
                cell.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
            }
        }
    }
}

extension ValueRun {
    /// The value of a row without one.
    @inline(never)
    func replacement(of row: UnsafeRowView) -> PredicateValue? { column.replacement(of: row) }

    /// Initializes each row's cell by a function. If that throws, no cell is left initialized, and the fault names the row.
    func fill(_ reading: any ValueReading.Type, _ initialize: (UnsafeRowView, UnsafeMutableRawPointer) throws -> Void) throws {
        var index = 0
        do {
            while index < rows.count {
                do { try initialize(rows[index], start + index * stride) } catch let fault as ColumnFault { throw fault.at(rows[index].reference) }
                index += 1
            }
        } catch {
            reading.deinitialize(start, count: index, stride: stride, column)
            throw error
        }
    }
}

/// A value that cannot be given. The caller adds the object.
package enum ColumnFault: Error {
    case null(ValueColumn, RowReference?)
    case unfit(ValueColumn, RowReference?)

    var reference: RowReference? {
        switch self {
        case .null(_, let reference), .unfit(_, let reference): reference
        }
    }

    /// Runs a read of rows, whose faults become errors of the stack.
    /// - Parameter id: the ID of a row's object.
    static func reported<Result>(_ body: () throws -> Result, _ id: (RowReference) -> NSManagedObjectID?) throws -> Result {
        do { return try body() } catch let fault as ColumnFault {
            throw fault.error(fault.reference.flatMap(id))
        } catch let error as StoreError {
            throw RecordLogErrors.wrap(error)
        } catch let fault as PredicateFault {
            throw CoreDataError.unsupported("The fetch's expressions cannot be evaluated: \(fault.reason)")
        }
    }

    /// - Parameter id: nil if the object is not known.
    func error(_ id: NSManagedObjectID?) -> NSError {
        let place = id.map { " of \($0.uriRepresentation().absoluteString)" } ?? ""
        var info: [String: Any] = [:]
        if let id { info[NSAffectedObjectsErrorKey] = [id] }
        switch self {
        case .null(let column, _):
            info[NSValidationKeyErrorKey] = column.name
            return CoreDataError.make(
                NSValidationMissingMandatoryPropertyError,
                "\(column.name)\(place) has no value, and \(column.valueType) has none for that; ask for values of the type "
                    + "\(column.valueType)?.", info)
        case .unfit(let column, _):
            info[NSValidationKeyErrorKey] = column.name
            return CoreDataError.make(
                NSManagedObjectValidationError,
                "\(column.name)\(place) has a value that does not fit \(column.valueType); ask for values of another type.", info)
        }
    }
}
