import Foundation

/// Which entities and properties of one version of a model are those of another.
///
/// Things with one identifier are the same: the renaming identifier, or the name where none is set. A renaming identifier that is nobody's
/// identifier in the source may be the name that the thing had there, where nothing else is that thing.
/// Source: https://developer.apple.com/documentation/coredata/migrating-your-data-model-automatically
package struct ModelComparison {
    package struct EntityPair {
        package let source: NSEntityDescription
        package let destination: NSEntityDescription
        /// The properties that both have, inherited ones included, without elements of composites; transient ones and such of other kinds too.
        package let matches: [PropertyPair]
        /// Those of them whose values the destination takes over.
        let properties: [PropertyPair]

        /// Whether a property of the destination has the values that it had.
        package func keeps(_ property: NSPropertyDescription) -> Bool { properties.contains { $0.destination === property } }

        /// The destination's properties that the source has not.
        var added: [NSPropertyDescription] {
            destination.properties.filter { !keeps($0) }
        }
    }

    package struct PropertyPair {
        package let source: NSPropertyDescription
        package let destination: NSPropertyDescription
    }

    /// What keeps a mapping from being inferred.
    package struct Obstacle {
        /// In Core Data's words where it has them.
        package let reason: String
        package let entity: NSEntityDescription?
        package let property: NSPropertyDescription?
    }

    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    /// In the order of the destination's entities.
    package let pairs: [EntityPair]
    /// Entities that the destination alone has.
    package let added: [NSEntityDescription]
    /// Entities that the source alone has.
    package let removed: [NSEntityDescription]
    package private(set) var obstacles: [Obstacle] = []

    /// - Throws: 134190 where what is the same has become something that no value of the source says: an attribute of another type, an
    ///   attribute that was a relationship, a relationship to one that was to many. The keys `reason`, `entity` and `property` say what.
    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel, configuration: String? = nil) throws {
        self.init(comparing: source, with: destination, configuration: configuration)
        if let obstacle = obstacles.first { throw obstacle.error }
    }

    /// The same with all that keeps a mapping from being inferred.
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
            // What is in memory alone has nothing to take over.
            guard !pair.source.isTransient, !pair.destination.isTransient else { return false }
            guard let reason = incompatibility(pair) else { return true }
            obstacles.append(Obstacle(reason: reason, entity: new, property: pair.destination))
            return false
        }
        return EntityPair(source: old, destination: new, matches: matches, properties: properties)
    }

    /// Whether the values of one property are values of the other; what is in memory alone has none.
    package static func takesOver(_ old: NSPropertyDescription, _ new: NSPropertyDescription) -> Bool {
        old.isTransient || new.isTransient || incompatibility(PropertyPair(source: old, destination: new)) == nil
    }

    /// Why the values of one are none of the other's; nil where they are.
    private static func incompatibility(_ pair: PropertyPair) -> String? {
        switch (pair.source, pair.destination) {
        case (let old as NSCompositeAttributeDescription, let new as NSCompositeAttributeDescription):
            for (one, other) in elements(of: old, in: new) {
                if let reason = incompatibility(PropertyPair(source: one, destination: other)) { return reason }
            }
            return nil
        case (let old as NSAttributeDescription, let new as NSAttributeDescription):
            // A derived one is computed anew, whatever it was.
            if new is NSDerivedAttributeDescription { return nil }
            return AttributeConversion(from: old, to: new) == nil ? "Source and destination attribute types are incompatible" : nil
        case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
            return old.isToMany && !new.isToMany ? "A relationship to many has become one to one" : nil
        default:
            return "Source and destination properties are of different kinds"
        }
    }

    /// An attribute as rows have it, under its whole path.
    struct ColumnPair {
        let source: (name: String, attribute: NSAttributeDescription)
        let destination: (name: String, attribute: NSAttributeDescription)
    }

    /// The columns that an attribute has in both versions: of a composite one those of its elements.
    static func columns(
        from old: NSAttributeDescription, to new: NSAttributeDescription, in prefixes: (old: String, new: String) = ("", "")
    ) -> [ColumnPair] {
        let names = (old: prefixes.old + old.name, new: prefixes.new + new.name)
        guard let before = old as? NSCompositeAttributeDescription, let after = new as? NSCompositeAttributeDescription else {
            return [ColumnPair(source: (names.old, old), destination: (names.new, new))]
        }
        return elements(of: before, in: after).flatMap { columns(from: $0, to: $1, in: ("\(names.old).", "\(names.new).")) }
    }

    /// The elements of a composite attribute that another version of it has too.
    private static func elements(
        of old: NSCompositeAttributeDescription, in new: NSCompositeAttributeDescription
    ) -> [(NSAttributeDescription, NSAttributeDescription)] {
        match(old.elements, new.elements) { _, _ in }.map { (old.elements[$0.source], new.elements[$0.destination]) }
    }

    /// A relationship that leads to another entity now is a new one where none of its objects is of that: Core Data infers so, as the tests of a
    /// public app that migrate its stores show.
    private static func leavingOutMoved(_ pair: EntityPair, _ counterparts: [ObjectIdentifier: NSEntityDescription]) -> EntityPair {
        let properties = pair.properties.filter { property in
            guard let before = (property.source as? NSRelationshipDescription)?.destinationEntity,
                let after = (property.destination as? NSRelationshipDescription)?.destinationEntity
            else { return true }
            // Some entity of before is one of after, or all are gone.
            let stays = before.concreteFamily.compactMap { counterparts[ObjectIdentifier($0)] }
            return stays.isEmpty || stays.contains { $0.isKindOf(entity: after) }
        }
        return EntityPair(source: pair.source, destination: pair.destination, matches: pair.matches, properties: properties)
    }

    /// - Parameter twice: told of a new thing whose identifier another one has as well, and that therefore matches nothing.
    private static func match<Thing: RenamedThing>(
        _ old: [Thing], _ new: [Thing], twice: (_ index: Int, _ identifier: String) -> Void
    ) -> [(source: Int, destination: Int)] {
        let places = Dictionary(old.indices.map { (old[$0].identifier, $0) }) { first, _ in first }
        let names = Dictionary(old.indices.map { (old[$0].nameInModel, $0) }) { first, _ in first }
        var taken: [Int: Int] = [:], left: [Int] = []
        for index in new.indices {
            let identifier = new[index].identifier
            guard let source = places[identifier] else {
                left.append(index)
                continue
            }
            guard let other = taken[source] else {
                taken[source] = index
                continue
            }
            // Of an attribute and a relationship that claim one property, the one that it was is it; the other is new.
            let isOfKind = new[index].isOfKind(of: old[source]), isOtherOfKind = new[other].isOfKind(of: old[source])
            if isOfKind == isOtherOfKind { twice(index, identifier) } else if isOfKind { taken[source] = index }
        }
        for index in left {
            let identifier = new[index].identifier
            guard let source = names[identifier] else { continue }
            // A name that has another's identifier for its own is a new thing's; two that state the name are not told apart.
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
    /// 134190.
    var error: NSError {
        let place = [entity?.name, property?.name].compactMap(\.self).joined(separator: ".")
        var info: [String: Any] = ["reason": reason]
        info["entity"] = entity?.name
        info["property"] = property?.name
        return CoreDataError.make(
            NSInferredMappingModelError,
            "No mapping between the two models can be inferred: \(reason)\(place.isEmpty ? "" : " (\(place))"). Make a mapping model.", info)
    }
}

/// What keeps its identity where its name changes.
private protocol RenamedThing {
    var nameInModel: String { get }
    var statedRenamingIdentifier: String? { get }
    /// Whether both are attributes, or relationships, or neither.
    func isOfKind(of other: Self) -> Bool
}

extension RenamedThing {
    fileprivate var identifier: String { statedRenamingIdentifier ?? nameInModel }
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
