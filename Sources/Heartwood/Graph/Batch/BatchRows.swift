import Foundation

/// The rows of a batch insertion, one at a time.
///
/// `next` reads the next row. `values` holds its values by property index, with the entity's defaults for properties that the row does not
/// name. `named` lists the properties that it names. Both buffers are reused for the next row.
package final class BatchRows {
    // A program may override a request's properties, so they are read once here and not for each row.
    private let list: [[String: Any]]?
    private let dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    private let objectHandler: ((NSManagedObject) -> Bool)?
    private let runtime: EntityRuntime
    @exclusivity(unchecked) package private(set) var values: [ManagedValue]
    @exclusivity(unchecked) package private(set) var named: [Int] = []
    @exclusivity(unchecked) package private(set) var isAtEnd = false
    @exclusivity(unchecked) private var row = 0
    private let dictionary = NSMutableDictionary()
    /// The object that the handler fills; reused for each row.
    private var object: NSManagedObject?
    /// The same object, so that the loop counts no reference.
    @exclusivity(unchecked) private var unretained: Unmanaged<NSManagedObject>?
    /// Properties that the object's setters may set but that an insertion ignores: relationships, and properties without a column.
    private var unnamed: [Int] = []

    init(_ request: NSBatchInsertRequest, _ runtime: EntityRuntime) {
        list = request.objectsToInsert
        dictionaryHandler = request.dictionaryHandler
        objectHandler = request.managedObjectHandler
        self.runtime = runtime
        values = runtime.initialValues
    }

    /// - Returns: false after the last row.
    /// - Throws: 1550 for a name that the entity does not have, and for a value that does not fit.
    package func next() throws -> Bool {
        guard !isAtEnd else { return false }
        if let objectHandler {
            isAtEnd = !nextObject(objectHandler)
        } else if let handler = dictionaryHandler {
            isAtEnd = try !nextDictionary(handler)
        } else {
            isAtEnd = try !nextListed()
        }
        row += 1
        return !isAtEnd
    }

    private func forgetRow() {
        for index in named { values[index] = runtime.initialValues[index] }
        named.removeAll(keepingCapacity: true)
    }

    private func nextListed() throws -> Bool {
        guard let list, row < list.count else { return false }
        forgetRow()
        for (name, value) in list[row] { try set(name, value) }
        return true
    }

    private func nextDictionary(_ handler: (NSMutableDictionary) -> Bool) throws -> Bool {
        dictionary.removeAllObjects()
        guard !handler(dictionary) else { return false }
        forgetRow()
        for (name, value) in dictionary { try set(name as? String ?? "\(name)", value) }
        return true
    }

    private func set(_ name: String, _ value: Any) throws {
        guard let index = runtime.index(of: name) else {
            throw BatchValues.error(
                "Row \(row) names \"\(name)\", which \(runtime.entity.name ?? "?") does not have; it has "
                    + runtime.properties.map(\.name).sorted().joined(separator: ", ") + ".", key: name, value)
        }
        values[index] = try BatchValues.value(value, index, runtime)
        named.append(index)
    }

    /// The object has no context: its setters refuse destinations of relationships, and a destination set by a primitive setter is ignored.
    private func nextObject(_ handler: (NSManagedObject) -> Bool) -> Bool {
        (unretained ?? makeObject())._withUnsafeGuaranteedRef { object in
            let storage = object.ownStorage()
            // Written in place: a shared array would be copied at the first setter.
            storage.values.withUnsafeMutableBufferPointer { values in
                for index in values.indices { values[index] = runtime.initialValues[index] }
            }
            guard !handler(object) else { return false }
            guard storage.values.count == values.count else { return true }
            swap(&values, &storage.values)
            for position in unnamed.indices { values[unnamed[position]] = runtime.initialValues[unnamed[position]] }
            return true
        }
    }

    private func makeObject() -> Unmanaged<NSManagedObject> {
        let made = runtime.objectClass.init(entity: runtime.entity, insertInto: nil)
        made.entityInContext = EntityInContext(runtime)
        named = runtime.properties.indices.filter { runtime.properties[$0].hasColumn && !runtime.properties[$0].kind.isRelationship }
        unnamed = runtime.properties.indices.filter { !named.contains($0) }
        object = made
        let known = Unmanaged.passUnretained(made)
        unretained = known
        return known
    }
}
