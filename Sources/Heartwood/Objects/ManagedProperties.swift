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

/// By `ManagedProperties.number`: the indexes of one entity's properties. Any thread may ask.
///
/// A directory of tables that is replaced by a larger one, and never changed; old ones are kept, since somebody may be reading them.
struct AccessorTables: ~Copyable, @unchecked Sendable {
    // Unchecked: what the directory leads to does not change once it is stored.

    /// Word 0: how many tables; word 1: the directory before; then the tables' addresses, 0 where there is none.
    private let directory = Atomic<UnsafeMutablePointer<UInt>?>(nil)
    private static let headerWords = 2
    private static let lock = Mutex(())

    /// - Returns: the indexes by place; -1 where the entity has no such property. nil where the list is new here.
    @inline(__always)
    borrowing func table(_ number: Int) -> UnsafePointer<Int>? {
        guard let words = directory.load(ordering: .acquiring), number < Int(bitPattern: words[0]) else { return nil }
        return UnsafePointer(bitPattern: words[Self.headerWords + number])
    }

    @inline(never)
    borrowing func addTable(_ number: Int, _ indexes: [Int]) -> UnsafePointer<Int> {
        Self.lock.withLock { _ in
            if let known = table(number) { return known }
            let old = directory.load(ordering: .relaxed)
            let oldCount = old.map { Int(bitPattern: $0[0]) } ?? 0
            let count = max(oldCount, number + 1)
            let words = UnsafeMutablePointer<UInt>.allocate(capacity: Self.headerWords + count)
            words.initialize(repeating: 0, count: Self.headerWords + count)
            words[0] = UInt(count)
            words[1] = UInt(bitPattern: old)
            if let old {
                for place in 0..<oldCount { words[Self.headerWords + place] = old[Self.headerWords + place] }
            }
            let table = UnsafeMutablePointer<Int>.allocate(capacity: max(indexes.count, 1))
            table.initialize(from: indexes, count: indexes.count)
            words[Self.headerWords + number] = UInt(bitPattern: table)
            directory.store(words, ordering: .releasing)
            return UnsafePointer(table)
        }
    }

    deinit {
        var next = directory.load(ordering: .acquiring)
        if let words = next {
            for place in 0..<Int(bitPattern: words[0]) {
                UnsafeMutablePointer<Int>(bitPattern: words[Self.headerWords + place])?.deallocate()
            }
        }
        while let words = next {
            next = UnsafeMutablePointer(bitPattern: words[1])
            words.deallocate()
        }
    }
}

extension NSManagedObject {
    /// The index, in this object's entity, of the property at a place of a list of names: what generated accessors hand to
    /// `managedInteger(at:)` and the like. O(1).
    /// - Precondition: the entity has the property.
    public final func propertyIndex(_ place: Int, of list: ManagedProperties) -> Int {
        let table = runtime.accessorTables.table(list.number)
            ?? runtime.accessorTables.addTable(list.number, list.names.map { runtime.index(of: $0) ?? -1 })
        let index = table[place]
        return index >= 0 ? index : propertyIndex(list.names[place])
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
