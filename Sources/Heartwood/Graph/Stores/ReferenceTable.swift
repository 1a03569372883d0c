import Foundation
import Synchronization

/// The reference objects by which a custom store identifies its objects, and the row numbers that stand for them here.
///
/// Numbers are given in turn, from 1, and never reused. Two reference objects are equal if their texts are, since a URI contains only the text.
package final class ReferenceTable: Sendable {
    private struct Table {
        var rows: [ExactText: UInt64] = [:]
        /// By row number, from 1.
        var references: [(name: String, object: Any)] = []
    }

    private struct State: @unchecked Sendable {
        // Unchecked: reference objects are immutable, as their documentation requires.
        var tables: [UInt16: Table] = [:]
    }

    private let state = Mutex(State())

    /// The text of a reference object in a URI.
    static func name(of reference: Any) -> String {
        switch reference {
        case let text as String: text
        case let number as Int: String(number)
        case let number as Int64: String(number)
        case let uuid as UUID: uuid.uuidString
        default: "\(reference)"
        }
    }

    /// The number of a reference object. A new reference object gets the next number.
    func row(of reference: Any, slot: UInt16) -> (row: UInt64, isNew: Bool) {
        let name = Self.name(of: reference)
        nonisolated(unsafe) let object = reference
        return state.withLock { state in
            if let known = state.tables[slot]?.rows[ExactText(name)] { return (known, false) }
            state.tables[slot, default: Table()].references.append((name, object))
            let row = UInt64(state.tables[slot]?.references.count ?? 0)
            state.tables[slot]?.rows[ExactText(name)] = row
            return (row, true)
        }
    }

    /// Gives a row another reference object. If another row has that already, both have it from now on, and the other is found by its name.
    func replace(_ row: UInt64, slot: UInt16, with reference: Any) {
        let name = Self.name(of: reference)
        nonisolated(unsafe) let object = reference
        state.withLock { state in
            // No copy of the table is held: the first write would copy all of it.
            guard let count = state.tables[slot]?.references.count, row > 0, row <= UInt64(count),
                let old = state.tables[slot]?.references[Int(row - 1)].name
            else { return }
            if state.tables[slot]?.rows[ExactText(old)] == row { state.tables[slot]?.rows[ExactText(old)] = nil }
            state.tables[slot]?.references[Int(row - 1)] = (name, object)
            if state.tables[slot]?.rows[ExactText(name)] == nil { state.tables[slot]?.rows[ExactText(name)] = row }
        }
    }

    /// The number of the reference object with a URI's text; nil if it was never given.
    func row(named name: String, slot: UInt16) -> UInt64? {
        state.withLock { $0.tables[slot]?.rows[ExactText(name)] }
    }

    private func entry(_ key: ObjectKey) -> (name: String, object: Any)? {
        nonisolated(unsafe) let found = state.withLock { state -> (name: String, object: Any)? in
            guard let references = state.tables[key.slot]?.references, key.row > 0, key.row <= UInt64(references.count) else { return nil }
            nonisolated(unsafe) let entry = references[Int(key.row - 1)]
            return entry
        }
        return found
    }

    /// The reference object's text, escaped for a URI.
    func name(of key: ObjectKey) -> String? {
        entry(key)?.name.addingPercentEncoding(withAllowedCharacters: Self.nameCharacters)
    }

    // MARK: Object IDs

    /// - Precondition: the entity has a runtime in the store.
    func objectID(of reference: Any, _ runtime: EntityRuntime?, _ entity: NSEntityDescription, in store: NSPersistentStore) -> NSManagedObjectID {
        guard let runtime else {
            misuse(
                "The entity \(entity.name ?? "?") has no objects in this store: it is abstract, or of another configuration.")
        }
        let key = ObjectKey(slot: runtime.slot, row: row(of: reference, slot: runtime.slot).row)
        return NSManagedObjectID(entity: entity, key: key, store: store, contextToken: 0)
    }

    /// - Precondition: the ID belongs to the store that has this table.
    func reference(of id: NSManagedObjectID) -> Any {
        guard let found = entry(id.key)?.object else { misuse("\(id) is no ID of this store.") }
        return found
    }

    private static let nameCharacters = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))

    /// The number for the next new reference object.
    func nextRow(slot: UInt16) -> UInt64 {
        state.withLock { UInt64($0.tables[slot]?.references.count ?? 0) + 1 }
    }
}
