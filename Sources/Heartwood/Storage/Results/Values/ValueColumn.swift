import Foundation
import RecordLog

/// A column of a fetch of values: what to read, and the Swift type in which the caller gets it.
package struct ValueColumn: @unchecked Sendable {
    // Unchecked: immutable, and `ifNull` is a number, a text or a similar plain value.

    /// The path, for messages.
    package let name: String
    let expression: ExpressionNode
    /// The kind of the attribute at the end of the path; nil for a computed value.
    let kind: PropertyKind?
    /// The type of a computed number's object.
    let codec: AttributeCodec
    let type: any ValueReading.Type
    let isOptional: Bool
    /// The caller's type, without its optional.
    let valueType: Any.Type
    /// The value that stands for null, where the caller's key path gives one.
    var ifNull: PredicateValue?
    /// The value where an object on the path is missing.
    var ifMissing: PredicateValue?

    /// The keys; nil for an expression.
    var path: [String]? {
        if case .keyPath(let keys) = expression { return keys }
        return nil
    }

    /// Whether the values are objects that an expression would change: a transformable's, or a composite's dictionary.
    var isObject: Bool { kind == .transformable || kind == .undefined }

    /// The value of a row without one.
    func replacement(of row: UnsafeRowView) -> PredicateValue? { row.reference.isNone ? ifMissing : ifNull }

    /// Initializes a cell with a value that was computed.
    /// - Parameter isMissing: whether an object on the path is missing.
    func put(_ value: PredicateValue, at cell: UnsafeMutableRawPointer, isMissing: Bool = false) throws {
        try type.put(value.isNull ? (isMissing ? ifMissing : ifNull) ?? value : value, at: cell, self)
    }
}

extension ValueColumn {
    /// The kind of the property at the end of a path; nil behind an operator.
    static func kind(of keys: [String], _ entity: NSEntityDescription) -> PropertyKind? {
        var owner: NSEntityDescription? = entity, kind = PropertyKind.objectID
        for key in keys where key.lowercased() != "self" && key != "objectID" {
            guard !key.hasPrefix("@"), let property = owner?.familyProperty(key) else { return nil }
            owner = (property as? NSRelationshipDescription)?.destinationEntity
            kind = PropertyKind(property)
        }
        return kind
    }
}

/// The columns of a fetch of values, and where each lies in the memory of a row.
package struct ValueTable: Sendable {
    package let columns: [ValueColumn]
    let offsets: [Int]
    let stride: Int

    /// - Parameter layouts: size and alignment of each column's type. A tuple lies in memory as these do one after the other, each aligned.
    /// Source: https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeLayout.rst, "Fragile Struct and Tuple Layout"
    init(_ columns: [ValueColumn], _ layouts: [(size: Int, alignment: Int)], size: Int, stride: Int) {
        var offsets: [Int] = [], end = 0
        for layout in layouts {
            end = (end + layout.alignment - 1) & ~(layout.alignment - 1)
            offsets.append(end)
            end += layout.size
        }
        precondition(end == size, "a row's memory is laid out as a tuple's")
        self.columns = columns
        self.offsets = offsets
        self.stride = stride
    }

    /// A table without columns of its own.
    init() { (columns, offsets, stride) = ([], [], 0) }

    /// Initializes one row by a function that gives each column's value.
    func put(at row: UnsafeMutableRawPointer, _ value: (ValueColumn) throws -> (PredicateValue, isMissing: Bool)) throws {
        var made = 0
        do {
            while made < columns.count {
                let (found, isMissing) = try value(columns[made])
                try columns[made].put(found, at: row + offsets[made], isMissing: isMissing)
                made += 1
            }
        } catch {
            deinitialize(row, columns: made, rows: 1)
            throw error
        }
    }

    /// Destroys the first columns of rows.
    func deinitialize(_ start: UnsafeMutableRawPointer, columns count: Int, rows: Int) {
        for index in 0..<count { columns[index].type.deinitialize(start + offsets[index], count: rows, stride: stride, columns[index]) }
    }
}

/// Takes rows of values, whose memory it gives.
package protocol ValueSink: AnyObject {
    /// Memory for so many rows, to be initialized.
    func room(_ count: Int) -> UnsafeMutableRawPointer

    /// Takes so many rows from the start of the last room. Returns false to end.
    func take(_ count: Int) throws -> Bool
}
