import Foundation

/// Which entities and properties of one version of a model are those of another.
///
/// Things with one identifier are the same: the renaming identifier, or the name where none is set. A renaming identifier that is nobody's
/// identifier in the source may be the name that the thing had there.
/// Source: https://developer.apple.com/documentation/coredata/migrating-your-data-model-automatically
struct ModelComparison {
    struct EntityPair {
        let source: NSEntityDescription
        let destination: NSEntityDescription
        /// The destination's properties that the source has too, inherited ones included, without elements of composites.
        let properties: [PropertyPair]

        /// The destination's properties that the source has not.
        var added: [NSPropertyDescription] {
            destination.properties.filter { property in !properties.contains { $0.destination === property } }
        }
        /// The source's properties that the destination has no more.
        var removed: [NSPropertyDescription] {
            source.properties.filter { property in !properties.contains { $0.source === property } }
        }
    }

    struct PropertyPair {
        let source: NSPropertyDescription
        let destination: NSPropertyDescription
    }

    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    /// In the order of the destination's entities.
    let pairs: [EntityPair]
    /// Entities that the destination alone has.
    let added: [NSEntityDescription]
    /// Entities that the source alone has.
    let removed: [NSEntityDescription]

    /// - Throws: 134190 where what is the same has become something that no value of the source says: an attribute of another type, an
    ///   attribute that was a relationship, a relationship to one that was to many, or to another entity. The keys `reason`, `entity` and `property` say what.
    init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel, configuration: String? = nil) throws {
        self.source = source
        self.destination = destination
        let old = source.entities(forConfigurationName: configuration) ?? source.entities
        let new = destination.entities(forConfigurationName: configuration) ?? destination.entities
        let found = try Self.match(old, new) { "two entities have the renaming identifier \"\($0)\"" }
        pairs = try found.map { try Self.compare(old[$0.source], new[$0.destination]) }
        let matchedSources = Set(found.map(\.source)), matchedDestinations = Set(found.map(\.destination))
        added = new.indices.filter { !matchedDestinations.contains($0) }.map { new[$0] }
        removed = old.indices.filter { !matchedSources.contains($0) }.map { old[$0] }
        try checkDestinations()
    }

    func pair(to destination: NSEntityDescription) -> EntityPair? { pairs.first { $0.destination === destination } }

    func pair(from source: NSEntityDescription) -> EntityPair? { pairs.first { $0.source === source } }

    private static func compare(_ old: NSEntityDescription, _ new: NSEntityDescription) throws -> EntityPair {
        let sources = old.properties.filter { !($0 is NSFetchedPropertyDescription) }
        let destinations = new.properties.filter { !($0 is NSFetchedPropertyDescription) }
        let found = try match(sources, destinations) { "two properties of \(new.name ?? "?") have the renaming identifier \"\($0)\"" }
        let properties = try found.compactMap { place -> PropertyPair? in
            let pair = PropertyPair(source: sources[place.source], destination: destinations[place.destination])
            // What is in memory alone has nothing to take over.
            if pair.source.isTransient || pair.destination.isTransient { return nil }
            if let reason = incompatibility(pair) { throw error(reason, new, pair.destination) }
            return pair
        }
        return EntityPair(source: old, destination: new, properties: properties)
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

    /// The elements of a composite attribute that another version of it has too.
    static func elements(
        of old: NSCompositeAttributeDescription, in new: NSCompositeAttributeDescription
    ) -> [(NSAttributeDescription, NSAttributeDescription)] {
        let found = (try? match(old.elements, new.elements) { _ in "" }) ?? []
        return found.map { (old.elements[$0.source], new.elements[$0.destination]) }
    }

    /// The objects of a relationship have to be able to be its objects still.
    private func checkDestinations() throws {
        for pair in pairs {
            for case let (old as NSRelationshipDescription, new as NSRelationshipDescription) in pair.properties.map({ ($0.source, $0.destination) }) {
                guard let before = old.destinationEntity, let after = new.destinationEntity else { continue }
                // Some entity of before must be one of after, or all are gone.
                let stays = before.concreteFamily.compactMap { self.pair(from: $0)?.destination }
                if !stays.isEmpty, !stays.contains(where: { $0.isKindOf(entity: after) }) {
                    throw Self.error("The destination of the relationship is another entity", pair.destination, new)
                }
            }
        }
    }

    private static func match<Thing: RenamedThing>(
        _ old: [Thing], _ new: [Thing], twice: (String) -> String
    ) throws -> [(source: Int, destination: Int)] {
        let places = Dictionary(old.indices.map { (old[$0].identifier, $0) }) { first, _ in first }
        let names = Dictionary(old.indices.map { (old[$0].nameInModel, $0) }) { first, _ in first }
        var taken: [Int: Int] = [:]
        for place in new.indices {
            let identifier = new[place].identifier
            guard let source = places[identifier] ?? names[identifier] else { continue }
            guard taken.updateValue(place, forKey: source) == nil else { throw error(twice(identifier), nil, nil) }
        }
        return taken.map { (source: $0.key, destination: $0.value) }.sorted { $0.destination < $1.destination }
    }

    private static func error(_ reason: String, _ entity: NSEntityDescription?, _ property: NSPropertyDescription?) -> NSError {
        let place = [entity?.name, property?.name].compactMap(\.self).joined(separator: ".")
        var info: [String: Any] = ["reason": "Can't infer mapping: \(reason)"]
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
    var renamingIdentifier: String? { get }
}

extension RenamedThing {
    fileprivate var identifier: String { renamingIdentifier ?? nameInModel }
}

extension NSEntityDescription: RenamedThing {
    fileprivate var nameInModel: String { name ?? "" }
}

extension NSPropertyDescription: RenamedThing {
    fileprivate var nameInModel: String { name }
}
