import Foundation

extension NSEntityDescription {
    final func duplicate() -> NSEntityDescription {
        let duplicate = NSEntityDescription()
        duplicate.name = name
        duplicate.managedObjectClassName = managedObjectClassName
        duplicate.isAbstract = isAbstract
        duplicate.userInfo = userInfo
        duplicate.declaredRenamingIdentifier = declaredRenamingIdentifier
        duplicate.versionHashModifier = versionHashModifier
        duplicate.properties = declaredProperties.compactMap { $0.copy() as? NSPropertyDescription }
        duplicate.uniquenessConstraints = uniquenessConstraints.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? $0 } }
        duplicate.indexes = indexes.map { $0.duplicate() }
        duplicate.superentityOfOriginal = superentity?.name
        duplicate.isCopy = true
        duplicate.takeOwnProperties(of: self)
        return duplicate
    }

    /// Sets the superentity to the given entity that has the name of the original's superentity.
    final func takeSuperentity(among entities: [String: NSEntityDescription]) {
        guard superentity == nil, let parent = superentityOfOriginal.flatMap({ entities[$0] }), parent !== self, !parent.isImmutable else { return }
        parent.subentities.append(self)
    }

    /// Redirects relationships and indexes to the given entities, matched by the names of the old ones.
    final func redirectReferences(among entities: [String: NSEntityDescription]) {
        for case let relationship as NSRelationshipDescription in declaredProperties {
            guard let old = relationship.destinationEntity, let new = old.name.flatMap({ entities[$0] }) else { continue }
            relationship.destinationEntity = new
            guard let inverse = relationship.inverseRelationship else { continue }
            if let own = new.relationshipsByName[inverse.name] { relationship.inverseRelationship = own }
        }
        let all = propertiesByName
        for element in indexes.flatMap(\.elements) where !(element.property is NSExpressionDescription) {
            if let own = element.propertyName.flatMap({ all[$0] }), own !== element.property { element.property = own }
        }
    }

    /// In a copy, redirects relationships to the original to the copy, and makes the indexes refer to the copy's properties.
    private func takeOwnProperties(of original: NSEntityDescription) {
        let own = propertiesByName
        for case let relationship as NSRelationshipDescription in declaredProperties where relationship.destinationEntity === original {
            relationship.destinationEntity = self
            guard let inverse = relationship.inverseRelationship else { continue }
            relationship.inverseRelationship = own[inverse.name] as? NSRelationshipDescription ?? inverse
        }
        for element in indexes.flatMap(\.elements) {
            if let expression = element.property as? NSExpressionDescription {
                element.property = expression.copy() as? NSPropertyDescription
            } else if let mine = element.propertyName.flatMap({ own[$0] }) {
                element.property = mine
            }
        }
    }
}
