import Synchronization

/// The names of the properties that a class's generated accessors use.
///
/// A name's place here is a constant of the accessor; the property's index is not, since a class may serve several entities and
/// models. So each entity's runtime keeps, for each such list that its objects were asked through, a table from place to index. It is
/// made once, and reading through it is two loads.
public final class ManagedProperties: Sendable {
    let names: [String]
    /// The list's place in `AccessorTables`.
    let number: Int
    private static let made = Atomic<Int>(0)

    public init(_ names: String...) {
        self.names = names
        number = Self.made.add(1, ordering: .relaxed).oldValue
    }
}

extension NSManagedObject {
    /// The index, in this object's entity, of the property at a place of a list of names: what generated accessors hand to
    /// `managedInteger(at:)` and the like. O(1).
    /// - Precondition: the entity has the property.
    public final func propertyIndex(_ position: Int, of list: ManagedProperties) -> Int {
        let table = runtime.accessorTables.table(list.number)
            ?? runtime.accessorTables.addTable(list.number, list.names.map { runtime.index(of: $0) ?? -1 })
        let index = table[position]
        return index >= 0 ? index : propertyIndex(list.names[position])
    }
}

/// What generated accessors of types that are not optional call.
extension NSManagedObject {
    /// - Precondition: there is a value: a class that says so of its property says that it is never read before it is set.
    public final func requiredValue<Value>(_ value: Value?, at index: Int) -> Value {
        requiredValue(value, forKey: runtime.properties[index].name)
    }

    /// - Precondition: there is a value.
    public final func requiredValue<Value>(_ value: Value?, forKey key: String) -> Value {
        guard let value else {
            if let recorder = managedObjectContext as? KeyPathRecorder, let index = runtime.index(of: key),
                let any: Value = recorder.requiredValue(index, of: self) {
                return any
            }
            preconditionFailure(
                "\(entity.name ?? "?").\(key) was read and has no value of the type \(Value.self); set it before, give it a default "
                    + "value in the model, or make the class's property optional.")
        }
        return value
    }
}
