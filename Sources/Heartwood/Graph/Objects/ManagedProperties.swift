import Synchronization

/// The names of the properties that a class's generated accessors use.
///
/// A name's position in the list is a constant of the accessor. The property's index is not, since a class may serve several entities and models.
/// So each entity's runtime keeps a table from position to index for each list that its objects were used with. It is made once, and a lookup is
/// two loads.
@_spi(GeneratedCode) public final class ManagedProperties: Sendable {
    let names: [String]
    /// The list's index in `AccessorTables`.
    let number: Int
    private static let made = Atomic<Int>(0)

    public init(_ names: String...) {
        self.names = names
        number = Self.made.add(1, ordering: .relaxed).oldValue
    }
}

extension NSManagedObject {
    /// The index, in this object's entity, of the property at a position of a list of names. Generated accessors pass it to `managedInteger(at:)`
    /// and its like. O(1).
    /// - Precondition: the entity has the property.
    @_spi(GeneratedCode) public final func propertyIndex(_ position: Int, of list: ManagedProperties) -> Int {
        let table = runtime.accessorTables.table(list.number)
            ?? runtime.accessorTables.addTable(list.number, list.names.map { runtime.index(of: $0) ?? -1 })
        let index = table[position]
        return index >= 0 ? index : propertyIndex(list.names[position])
    }
}

/// Called by generated accessors whose types are not optional.
extension NSManagedObject {
    /// - Precondition: the value is not nil. A class whose property is not optional promises to set it before it is read.
    @_spi(GeneratedCode) public final func requiredValue<Value>(_ value: Value?, at index: Int) -> Value {
        requiredValue(value, forKey: runtime.properties[index].name)
    }

    /// The same for an enumeration, whose raw values the store keeps.
    /// - Precondition: the enumeration has a case for the attribute's value.
    @_spi(GeneratedCode) public final func requiredValue<Value: RawRepresentable>(_ value: Value?, at index: Int) -> Value {
        let key = runtime.properties[index].name
        return requiredValue(value ?? (managedAttribute(at: index) as? Value.RawValue).flatMap { Value(rawValue: $0) }, forKey: key)
    }

    /// Writes the raw value of an enumeration; a transformable attribute takes the value itself.
    @_spi(GeneratedCode) public final func setManagedAttribute<Value: RawRepresentable>(_ value: Value, at index: Int) {
        let isWhole = runtime.properties[index].kind == .transformable
        setManagedAttribute((isWhole ? value : value.rawValue) as Any, at: index)
    }

    /// - Precondition: the value is not nil.
    @_spi(GeneratedCode) public final func requiredValue<Value>(_ value: Value?, forKey key: String) -> Value {
        guard let value else {
            if let recorder = managedObjectContext as? KeyPathRecorder, let index = runtime.index(of: key) ?? spareIndex(key),
                let any: Value = recorder.requiredValue(index, of: self) {
                return any
            }
            misuse(
                "\(entity.name ?? "?").\(key) was read and has no value of the type \(Value.self); set it before, give it a default "
                    + "value in the model, or make the class's property optional.")
        }
        return value
    }
}
