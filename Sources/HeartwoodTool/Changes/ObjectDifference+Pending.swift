import Foundation
import Heartwood

extension ObjectDifference {
    /// The changes of an object that its context has not saved.
    init(pending object: NSManagedObject) {
        let changes = object.changedValues(), saved = object.committedValues(forKeys: nil)
        self.init(
            kind: object.isDeleted ? .deleted : .updated, entity: object.entity.title, object: object.objectID.text,
            properties: object.entity.orderedProperties.filter { !$0.isTransient }.compactMap { property in
                let old = Self.value(saved[property.name])
                guard !object.isDeleted else { return Self.difference(property, old, nil) }
                return changes[property.name].flatMap { Self.difference(property, old, Self.value($0)) }
            })
    }

    private static func value(_ value: Any?) -> Any? { value is NSNull ? nil : value }

    /// - Returns: nil where neither side has a value.
    private static func difference(_ property: NSPropertyDescription, _ old: Any?, _ new: Any?) -> PropertyDifference? {
        switch property {
        case let attribute as NSAttributeDescription:
            guard old != nil || new != nil else { return nil }
            func side(_ value: Any?) -> PropertyDifference.Value? {
                value.map { PropertyDifference.Value(attribute: attribute, object: $0, bytes: nil) }
            }
            return PropertyDifference(name: attribute.name, change: .attribute(old: side(old), new: side(new)))
        case let relationship as NSRelationshipDescription:
            let before = uris(old), after = uris(new)
            guard before != after else { return nil }
            return PropertyDifference(name: relationship.name, change: change(relationship, before, after))
        default: return nil
        }
    }

    private static func change(_ relationship: NSRelationshipDescription, _ old: [String], _ new: [String]) -> PropertyDifference.Change {
        guard relationship.isToMany else { return .toOne(old: old.first, new: new.first) }
        if relationship.isOrdered { return .order(old: old, new: new) }
        let before = Set(old), after = Set(new)
        return .members(added: after.subtracting(before).sorted(), removed: before.subtracting(after).sorted())
    }

    private static func uris(_ value: Any?) -> [String] {
        func uri(_ object: Any) -> String? { (object as? NSManagedObject)?.objectID.text }
        return switch value {
        case let set as NSSet: set.compactMap(uri).sorted()
        case let set as NSOrderedSet: set.compactMap(uri)
        case let object?: [uri(object)].compactMap { $0 }
        case nil: []
        }
    }
}
