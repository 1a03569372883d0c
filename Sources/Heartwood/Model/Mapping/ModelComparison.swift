import Foundation

/// Matches the entities and properties of one version of a model with those of another.
///
/// Two things match if their identifiers are equal: the renaming identifier, or the name if none is set. If no identifier in the source equals
/// a renaming identifier, it is tried as the old name of a source's thing, unless something else matches that thing.
/// Source: https://developer.apple.com/documentation/coredata/migrating-your-data-model-automatically
package struct ModelComparison {
    package struct EntityPair {
        package let source: NSEntityDescription
        package let destination: NSEntityDescription
        /// All matched properties, also inherited and transient ones and pairs of different kinds. Elements of composites are left out.
        package let matches: [PropertyPair]
        /// The matched properties whose values the destination takes over.
        package let properties: [PropertyPair]

        /// Whether a property of the destination keeps its old values.
        package func keeps(_ property: NSPropertyDescription) -> Bool { properties.contains { $0.destination === property } }

        /// The destination's properties that take over no values.
        var added: [NSPropertyDescription] {
            destination.properties.filter { !keeps($0) }
        }
    }

    package struct PropertyPair {
        package let source: NSPropertyDescription
        package let destination: NSPropertyDescription
    }

    /// A reason why no mapping can be inferred.
    package struct Obstacle {
        /// Core Data's words, if it has any for this.
        package let reason: String
        package let entity: NSEntityDescription?
        package let property: NSPropertyDescription?
    }

    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    /// In the order of the destination's entities.
    package let pairs: [EntityPair]
    /// Entities that only the destination has.
    package let added: [NSEntityDescription]
    /// Entities that only the source has.
    package let removed: [NSEntityDescription]
    package private(set) var obstacles: [Obstacle] = []

    /// - Throws: 134190 if the source's values say nothing of the new ones: an attribute changed to an unrelated type, a relationship became an
    ///   attribute or the reverse, a to-many relationship became to-one. The keys `reason`, `entity` and `property` give the details.
    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel, configuration: String? = nil) throws {
        self.init(comparing: source, with: destination, configuration: configuration)
        if let obstacle = obstacles.first { throw obstacle.error }
    }

    /// Compares without throwing, and collects every obstacle.
    package init(comparing source: NSManagedObjectModel, with destination: NSManagedObjectModel, configuration: String? = nil) {
        self.source = source
        self.destination = destination
        let old = source.entities(forConfigurationName: configuration) ?? source.entities
        let new = destination.entities(forConfigurationName: configuration) ?? destination.entities
        var obstacles: [Obstacle] = []
        let found = Self.match(old, new) { index, identifier in
            obstacles.append(Obstacle(reason: "Two entities have the renaming identifier \"\(identifier)\"", entity: new[index], property: nil))
        }
        let compared = found.map { Self.compare(old[$0.source], new[$0.destination], &obstacles) }
        let counterparts = Dictionary(compared.map { (ObjectIdentifier($0.source), $0.destination) }) { first, _ in first }
        pairs = compared.map { Self.leavingOutMoved($0, counterparts) }
        let matchedSources = Set(found.map(\.source)), matchedDestinations = Set(found.map(\.destination))
        added = new.indices.filter { !matchedDestinations.contains($0) }.map { new[$0] }
        removed = old.indices.filter { !matchedSources.contains($0) }.map { old[$0] }
        self.obstacles = obstacles
    }

    package func pair(to destination: NSEntityDescription) -> EntityPair? { pairs.first { $0.destination === destination } }

    package func pair(from source: NSEntityDescription) -> EntityPair? { pairs.first { $0.source === source } }

    private static func compare(_ old: NSEntityDescription, _ new: NSEntityDescription, _ obstacles: inout [Obstacle]) -> EntityPair {
        if new.isAbstract, !old.isAbstract {
            obstacles.append(Obstacle(reason: "The entity has become abstract, and may have objects", entity: new, property: nil))
        }
        let sources = old.properties.filter { !($0 is NSFetchedPropertyDescription) }
        let destinations = new.properties.filter { !($0 is NSFetchedPropertyDescription) }
        let found = match(sources, destinations) { index, identifier in
            obstacles.append(Obstacle(
                reason: "Two properties have the renaming identifier \"\(identifier)\"", entity: new, property: destinations[index]))
        }
        let matches = found.map { PropertyPair(source: sources[$0.source], destination: destinations[$0.destination]) }
        let properties = matches.filter { pair in
            // A transient property has no stored values.
            guard !pair.source.isTransient, !pair.destination.isTransient else { return false }
            guard let reason = incompatibility(pair) else { return true }
            obstacles.append(Obstacle(reason: reason, entity: new, property: pair.destination))
            return false
        }
        return EntityPair(source: old, destination: new, matches: matches, properties: properties)
    }

    /// Whether the values of one property can become values of the other. True for transient properties, which have no stored values.
    package static func takesOver(_ old: NSPropertyDescription, _ new: NSPropertyDescription) -> Bool {
        old.isTransient || new.isTransient || incompatibility(PropertyPair(source: old, destination: new)) == nil
    }

    /// The reason why the values of one cannot become values of the other; nil if they can.
    private static func incompatibility(_ pair: PropertyPair) -> String? {
        switch (pair.source, pair.destination) {
        case (let old as NSCompositeAttributeDescription, let new as NSCompositeAttributeDescription):
            for (one, other) in elements(of: old, in: new) {
                if let reason = incompatibility(PropertyPair(source: one, destination: other)) { return reason }
            }
            return nil
        case (let old as NSAttributeDescription, let new as NSAttributeDescription):
            // A derived attribute is recomputed, so its old values do not matter.
            if new is NSDerivedAttributeDescription { return nil }
            return AttributeConversion(from: old, to: new) == nil ? "Source and destination attribute types are incompatible" : nil
        case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
            return old.isToMany && !new.isToMany ? "A relationship to many has become one to one" : nil
        default:
            return "Source and destination properties are of different kinds"
        }
    }

    /// An attribute as a column of the rows, under its whole path.
    package struct ColumnPair {
        package let source: (name: String, attribute: NSAttributeDescription)
        package let destination: (name: String, attribute: NSAttributeDescription)
    }

    /// The columns that an attribute has in both versions. A composite attribute has a column for each element.
    package static func columns(
        from old: NSAttributeDescription, to new: NSAttributeDescription, in prefixes: (old: String, new: String) = ("", "")
    ) -> [ColumnPair] {
        let names = (old: prefixes.old + old.name, new: prefixes.new + new.name)
        guard let before = old as? NSCompositeAttributeDescription, let after = new as? NSCompositeAttributeDescription else {
            return [ColumnPair(source: (names.old, old), destination: (names.new, new))]
        }
        return elements(of: before, in: after).flatMap { columns(from: $0, to: $1, in: ("\(names.old).", "\(names.new).")) }
    }

    /// The elements that a composite attribute has in both versions.
    private static func elements(
        of old: NSCompositeAttributeDescription, in new: NSCompositeAttributeDescription
    ) -> [(NSAttributeDescription, NSAttributeDescription)] {
        match(old.elements, new.elements) { _, _ in }.map { (old.elements[$0.source], new.elements[$0.destination]) }
    }

    /// Removes relationships whose destination entity changed to one that matches none of the old entities. Such a relationship is new. Core Data
    /// infers the same, as the migration tests of a public app show.
    private static func leavingOutMoved(_ pair: EntityPair, _ counterparts: [ObjectIdentifier: NSEntityDescription]) -> EntityPair {
        let properties = pair.properties.filter { property in
            guard let before = (property.source as? NSRelationshipDescription)?.destinationEntity,
                let after = (property.destination as? NSRelationshipDescription)?.destinationEntity
            else { return true }
            // Keep it if an old destination entity became one of the new, or if all old ones were removed.
            let stays = before.concreteFamily.compactMap { counterparts[ObjectIdentifier($0)] }
            return stays.isEmpty || stays.contains { $0.isKindOf(entity: after) }
        }
        return EntityPair(source: pair.source, destination: pair.destination, matches: pair.matches, properties: properties)
    }

    /// - Parameter twice: called for each new thing that shares its identifier with another one and therefore matches nothing.
    private static func match<Thing: RenamedThing>(
        _ old: [Thing], _ new: [Thing], twice: (_ index: Int, _ identifier: String) -> Void
    ) -> [(source: Int, destination: Int)] {
        let indexes = Dictionary(old.indices.map { (old[$0].identifier, $0) }) { first, _ in first }
        let names = Dictionary(old.indices.map { (old[$0].nameInModel, $0) }) { first, _ in first }
        var taken: [Int: Int] = [:], left: [Int] = []
        for index in new.indices {
            let identifier = new[index].identifier
            guard let source = indexes[identifier] else {
                left.append(index)
                continue
            }
            guard let other = taken[source] else {
                taken[source] = index
                continue
            }
            // If an attribute and a relationship claim one old property, the one of the same kind matches, and the other is new.
            let isOfKind = new[index].isOfKind(of: old[source]), isOtherOfKind = new[other].isOfKind(of: old[source])
            if isOfKind == isOtherOfKind { twice(index, identifier) } else if isOfKind { taken[source] = index }
        }
        for index in left {
            let identifier = new[index].identifier
            guard let source = names[identifier] else { continue }
            // A source's thing that already matched keeps its match. Two new things with the same old name are reported.
            if let other = taken[source] {
                if new[other].identifier == identifier { twice(index, identifier) }
            } else {
                taken[source] = index
            }
        }
        return taken.map { (source: $0.key, destination: $0.value) }.sorted { $0.destination < $1.destination }
    }
}

extension ModelComparison.Obstacle {
    /// An error with code 134190.
    var error: NSError {
        let element = [entity?.name, property?.name].compactMap(\.self).joined(separator: ".")
        var info: [String: Any] = ["reason": reason]
        info["entity"] = entity?.name
        info["property"] = property?.name
        return CoreDataError.make(
            NSInferredMappingModelError,
            "No mapping between the two models can be inferred: \(reason)\(element.isEmpty ? "" : " (\(element))"). Make a mapping model.", info)
    }
}

/// An entity or property that keeps its identity when its name changes.
private protocol RenamedThing {
    var nameInModel: String { get }
    var declaredRenamingIdentifier: String? { get }
    /// Whether both are attributes, or both relationships, or both neither.
    func isOfKind(of other: Self) -> Bool
}

extension RenamedThing {
    fileprivate var identifier: String { declaredRenamingIdentifier ?? nameInModel }
}

extension NSEntityDescription: RenamedThing {
    fileprivate var nameInModel: String { name ?? "" }

    fileprivate func isOfKind(of other: NSEntityDescription) -> Bool { true }
}

extension NSPropertyDescription: RenamedThing {
    fileprivate var nameInModel: String { name }

    fileprivate func isOfKind(of other: NSPropertyDescription) -> Bool {
        (self is NSAttributeDescription) == (other is NSAttributeDescription)
            && (self is NSRelationshipDescription) == (other is NSRelationshipDescription)
    }
}
