import Foundation

/// Names a value of an object with the Swift type in which a fetch of values gives it.
///
/// It is for entities without a class, and for what no key path says: `AttributePath<String?>("group.name")`, `AttributePath<Int>("tasks.@count")`.
public struct AttributePath<Value>: @unchecked Sendable {
    // Unchecked: key paths are immutable.
    let form: AttributePathForm

    /// Names an attribute, an attribute behind to-one relationships, an element of a composite, a to-one relationship or "objectID" for IDs, or a
    /// to-many relationship with an operator, such as "tasks.@count".
    /// - Parameter path: keys, separated by dots. The fetch throws if the entity has no such path, or its values are of another type.
    public init(_ path: String) {
        form = .name(path)
    }

    /// Names what a key path of a class reads: a property as it is, also behind to-one relationships.
    public init<Root: NSManagedObject>(_ keyPath: KeyPath<Root, Value>) {
        form = .keyPath(keyPath)
    }
}

/// How a path names what it reads. It lies outside of the generic structure: where a pack of paths is let go of, the optimizing compiler of Swift 6.3
/// ends with a signal if the enumeration depends on the pack.
enum AttributePathForm {
    case name(String)
    case keyPath(AnyKeyPath)
}

extension ValueColumn {
    /// - Throws: 134091 if the entity has no such path, or its values do not fit the type.
    init<Value>(_ path: AttributePath<Value>, _ entity: NSEntityDescription) throws {
        switch path.form {
        case .name(let name): self = try ValueColumn(name, Value.self, entity)
        case .keyPath(let keyPath):
            let reading: KeyPathReading
            do {
                reading = try KeyPathReading.of(keyPath, entity: entity)
            } catch let error as PredicateTranslationError {
                throw CoreDataError.unsupported(error.reason)
            }
            let name = reading.keys.isEmpty ? "objectID" : reading.keys.joined(separator: ".")
            self = try ValueColumn(name, Value.self, entity)
            ifNull = reading.ifNull
            ifMissing = reading.ownerKeys.isEmpty ? reading.ifNull : nil
        }
    }

    /// - Parameter given: the caller's type, which may be an optional.
    init(_ name: String, _ given: Any.Type, _ entity: NSEntityDescription) throws {
        let column = try ColumnReader(entity: entity).column(name)
        var kind: PropertyKind?
        if case .keyPath(let keys) = column.expression { kind = Self.kind(of: keys, entity) }
        let valueType = Unwrapping.wrapped(given)
        self.init(
            name: name, expression: column.expression, kind: kind, codec: column.type.codec,
            type: try Self.reading(of: valueType, kind, name: name, entity: entity), isOptional: valueType != given, valueType: valueType)
    }
}

extension ValueTable {
    /// The columns of a tuple.
    init<each Value>(_ paths: repeat AttributePath<each Value>, of entity: NSEntityDescription) throws {
        var columns: [ValueColumn] = [], layouts: [(size: Int, alignment: Int)] = []
        func add<Element>(_ path: AttributePath<Element>) throws {
            columns.append(try ValueColumn(path, entity))
            layouts.append((MemoryLayout<Element>.size, MemoryLayout<Element>.alignment))
        }
        repeat try add(each paths)
        self.init(columns, layouts, size: MemoryLayout<(repeat each Value)>.size, stride: MemoryLayout<(repeat each Value)>.stride)
    }
}
