import Foundation
import RecordLog

/// Rows as dictionaries, for code that inspects a conflict. Made only when a conflict exists.
extension NSManagedObject {
    /// The attributes and to-one relationships of a row of this object, by name: relationships as IDs, null as `NSNull`.
    final func snapshot(of row: UnsafeRowView) -> [String: Any] {
        var result: [String: Any] = [:]
        for (index, property) in runtime.properties.enumerated() where property.hasColumn {
            result[property.name] = NSNull()
            switch committedValue(index, in: row) {
            case .reference(let key):
                if !key.isNone, let context = managedObjectContext { result[property.name] = context.objectID(for: key) }
            case let value:
                if let object = AttributeCoding.object(value, property: entity.propertiesByIndex[index], kind: property.kind) {
                    result[property.name] = object
                }
            }
        }
        return result
    }

    /// The snapshot of the row that this object was read from; nil for an object that was never saved.
    final var committedSnapshot: [String: Any]? {
        guard !isInserted, managedObjectContext != nil, let row else { return nil }
        return snapshot(of: row)
    }
}
