import Foundation
import Heartwood
import HeartwoodModelCode

/// Makes the property of a relationship.
struct ModelRelationshipReader {
    private let relationship: NSRelationshipDescription
    private let isUnique: Bool
    private let isCircular: Bool

    /// - Parameter isCircular: whether no model could be made if the property were required.
    init(_ relationship: NSRelationshipDescription, isUnique: Bool, isCircular: Bool) {
        (self.relationship, self.isUnique, self.isCircular) = (relationship, isUnique, isCircular)
    }

    var property: ModelClassProperty {
        let destination = SwiftNames.escaped(relationship.destinationEntity?.title ?? "")
        let isOptional = relationship.isOptional || isCircular
        let type = relationship.isToMany ? "[\(destination)]" : destination
        return ModelClassProperty(
            name: relationship.name, type: isOptional ? type + "?" : type, initial: relationship.isToMany && !isOptional ? "[]" : nil,
            attribute: declaration, unsaid: unsaid)
    }

    private var declaration: String? {
        var arguments: [(label: String, value: String)] = []
        switch relationship.deleteRule {
        case .nullifyDeleteRule: break
        case .cascadeDeleteRule: arguments.append(("deleteRule", ".cascade"))
        case .denyDeleteRule: arguments.append(("deleteRule", ".deny"))
        case .noActionDeleteRule: arguments.append(("deleteRule", ".noAction"))
        }
        if relationship.isToMany, relationship.minCount > 0 { arguments.append(("minimumModelCount", "\(relationship.minCount)")) }
        if relationship.isToMany, relationship.maxCount > 0 { arguments.append(("maximumModelCount", "\(relationship.maxCount)")) }
        let identity = ModelAttributeReader.identity(of: relationship)
        arguments += identity.filter { $0.label == "originalName" }
        if let inverse { arguments.append(("inverse", inverse)) }
        arguments += identity.filter { $0.label != "originalName" }
        return ModelAttributeReader.declaration("@Relationship", (isUnique ? [".unique"] : []) + arguments.map { "\($0.label): \($0.value)" })
    }

    /// One of the two ends names the other: the compiler refuses two that name each other.
    private var inverse: String? {
        guard let inverse = relationship.inverseRelationship, inverse !== relationship, relationship.isDrawn, let owner = inverse.holder
        else { return nil }
        return "\\\(SwiftNames.escaped(owner.title)).\(SwiftNames.escaped(inverse.name))"
    }

    private var unsaid: [String] {
        var found: [String] = []
        if relationship.isOrdered { found.append("the relationship is ordered; a store that is opened keeps the order") }
        if isCircular { found.append("the relationship is required, since it leads back to \(relationship.holder?.title ?? "its entity")") }
        if relationship.inverseRelationship === relationship {
            found.append("the relationship is its own inverse; a store that is opened keeps that")
        } else if relationship.inverseRelationship == nil, isPairable {
            found.append("the relationship has no inverse; a store that is opened keeps that, a new one pairs it with one that leads back")
        }
        if relationship.isTransient { found.append("the relationship is transient") }
        for predicate in relationship.validationPredicates {
            found.append("the relationship must fulfil \(SwiftNames.shown(predicate.predicateFormat))")
        }
        if let info = relationship.userInfo, !info.isEmpty {
            found.append("the user info of the relationship, \(Output.count(info.count, "entry", "entries"))")
        }
        return found
    }

    private static func canLoseMembers(_ relationship: NSRelationshipDescription) -> Bool { relationship.isToMany || relationship.isOptional }

    /// Whether SwiftData would take a relationship of the destination for the inverse.
    private var isPairable: Bool {
        guard let owner = relationship.holder, Self.canLoseMembers(relationship) else { return false }
        return relationship.destinationEntity?.relationshipsByName.values.contains { other in
            other !== relationship && Self.canLoseMembers(other) && other.inverseRelationship == nil
                && other.destinationEntity.map { owner.isKindOf(entity: $0) } == true
        } ?? false
    }
}
