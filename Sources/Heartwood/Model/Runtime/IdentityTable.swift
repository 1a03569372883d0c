/// Values by object: a dictionary whose keys are objects' identities.
///
/// The first dictionary with keys of a type makes the runtime search all of a program's libraries for the type's conformance, once in each
/// process: 0.05 ms and more. What an opening makes has texts for its keys, or is such a table. docs/decisions/0099 has the figures.
///
/// The objects are not retained. Reading is O(log n), adding O(n).
package struct IdentityTable<Value> {
    private var keys: [UInt] = []
    package private(set) var values: [Value] = []

    package init() {}

    var isEmpty: Bool { keys.isEmpty }

    private static func key(_ object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(object)) }

    /// The index of the first key that is not less.
    private func index(_ key: UInt) -> Int {
        var low = 0, high = keys.count
        while low < high {
            let middle = (low &+ high) / 2
            if keys[middle] < key { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    package subscript(object: AnyObject) -> Value? {
        get {
            let key = Self.key(object), index = index(key)
            return index < keys.count && keys[index] == key ? values[index] : nil
        }
        set {
            let key = Self.key(object), index = index(key), isKnown = index < keys.count && keys[index] == key
            if let newValue {
                if isKnown {
                    values[index] = newValue
                } else {
                    keys.insert(key, at: index)
                    values.insert(newValue, at: index)
                }
            } else if isKnown {
                keys.remove(at: index)
                values.remove(at: index)
            }
        }
    }

    package subscript(object: AnyObject, default initial: @autoclosure () -> Value) -> Value {
        get { self[object] ?? initial() }
        _modify {
            let key = Self.key(object), index = index(key)
            if index == keys.count || keys[index] != key {
                keys.insert(key, at: index)
                values.insert(initial(), at: index)
            }
            yield &values[index]
        }
    }

    /// Changes each value, or removes it where `body` returns false.
    mutating func update(_ body: (inout Value) -> Bool) {
        for index in keys.indices.reversed() where !body(&values[index]) {
            keys.remove(at: index)
            values.remove(at: index)
        }
    }
}
