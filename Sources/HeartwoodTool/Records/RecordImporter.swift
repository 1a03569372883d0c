import Foundation
import Heartwood

/// Turns records into objects, a batch a save.
final class RecordImporter {
    private let open: OpenStore
    private let entity: NSEntityDescription
    private let key: NSAttributeDescription
    private let batch: Int
    private let isStrict: Bool
    private let lookup: UniqueLookup
    /// By destination entity.
    private var lookups: [ObjectIdentifier: UniqueLookup] = [:]
    private var properties: [String: NSPropertyDescription]

    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var edges = 0
    /// Objects of other records' relationships whose own record has not come: the one thing that outlives a batch.
    private var awaited: Set<NSManagedObjectID> = []
    /// Those of the current batch, which have no lasting ID yet.
    private var awaitedInBatch: [NSManagedObject] = []
    private var firstLine = 1
    private var hasSaved = false
    private var joinsMembers = false

    /// - Parameter key: see `key(named:of:)`.
    init(open: OpenStore, entity: NSEntityDescription, key: NSAttributeDescription, batch: Int, isStrict: Bool) {
        self.open = open
        self.entity = entity
        self.batch = batch
        self.isStrict = isStrict
        self.key = key
        properties = Dictionary(entity.orderedProperties.map { ($0.name, $0) }) { first, _ in first }
        lookup = UniqueLookup(entity: entity, attribute: key, context: open.context)
        lookups[ObjectIdentifier(entity)] = lookup
    }

    /// The attribute by which records and objects are told apart.
    /// - Throws: where it cannot be that.
    static func key(named key: String, of entity: NSEntityDescription) throws -> NSAttributeDescription {
        guard let attribute = entity.orderedProperties.first(where: { $0.name == key }) as? NSAttributeDescription else {
            throw ToolError.usage("\(entity.name ?? "") has no attribute \"\(key)\" to be the key")
        }
        guard !attribute.isTransient else { throw ToolError.usage("\(key) is transient, so no store has it, and it cannot be the key") }
        guard !attribute.allowsExternalBinaryDataStorage || attribute.attributeType != .binaryDataAttributeType else {
            throw ToolError.usage("\(key) holds data outside its rows, which cannot be the key")
        }
        guard !entity.isAbstract else { throw ToolError.usage("\(entity.name ?? "") is abstract; name one of its subentities") }
        return attribute
    }

    func run(_ reader: any RecordReader, progress: () -> Void) throws {
        var count = 0
        joinsMembers = reader.joinsMembers
        while let record = try reader.next() {
            if count == 0 { firstLine = record.line }
            do {
                try take(record)
            } catch {
                throw ToolError.failure("line \(record.line): \(ToolError.sentence(of: error)) \(kept)")
            }
            count += 1
            if count == batch {
                try save(through: record.line)
                count = 0
                progress()
            }
        }
        try save(through: nil)
        try settle()
    }

    /// What is in the store when an import stops.
    private var kept: String {
        (hasSaved ? "Lines before \(firstLine) are saved" : "Nothing is saved") + "; import the file again once that is mended"
    }

    private func save(through line: Int?) throws {
        do {
            try open.context.save()
        } catch {
            throw ToolError.failure("lines \(firstLine) to \(line.map(String.init) ?? "the end"): \(ToolError.sentence(of: error)) \(kept)")
        }
        hasSaved = true
        for object in awaitedInBatch where object.managedObjectContext != nil { awaited.insert(object.objectID) }
        awaitedInBatch.removeAll(keepingCapacity: true)
        for lookup in lookups.values { lookup.endBatch() }
    }

    // MARK: Records

    private func take(_ record: Record) throws {
        guard let stated = record.values.first(where: { $0.name == key.name }), case let value = stated.value,
            let identity = try AttributeText.value(value, for: key)
        else { throw ToolError.failure("the key \"\(key.name)\" is missing") }
        let object: NSManagedObject
        if let known = try lookup.find(identity) {
            object = known
            if arrived(known) { inserted += 1 } else { updated += 1 }
        } else {
            object = try lookup.make(identity)
            inserted += 1
        }
        for (name, value) in record.values where name != key.name {
            switch properties[name] {
            case let attribute as NSAttributeDescription:
                try object.assign(try AttributeText.value(value, for: attribute), to: attribute)
            case let relationship as NSRelationshipDescription: try connect(object, relationship, value)
            default:
                throw ToolError.failure(
                    "\(entity.name ?? "") has no property \"\(name)\"; it has \(properties.keys.sorted().joined(separator: ", "))")
            }
        }
    }

    /// Whether this object was made for another's sake, and now has its own record.
    private func arrived(_ object: NSManagedObject) -> Bool {
        if let place = awaitedInBatch.firstIndex(where: { $0 === object }) {
            awaitedInBatch.remove(at: place)
            return true
        }
        return awaited.remove(object.objectID) != nil
    }

    private func connect(_ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ value: RecordValue) throws {
        var wanted: [NSManagedObject] = []
        for item in try members(value, of: relationship) { wanted.append(try destination(item, relationship)) }
        edges += wanted.count
        guard relationship.isToMany else {
            if let destination = wanted.first {
                object.connect(destination, by: relationship)
            } else {
                try object.assign(nil, to: relationship)
            }
            return
        }
        if object.isInserted || object.destinations(of: relationship).isEmpty {
            for destination in wanted { object.connect(destination, by: relationship) }
        } else {
            try object.assign(NSOrderedSet(array: wanted), to: relationship)
        }
    }

    private func members(_ value: RecordValue, of relationship: NSRelationshipDescription) throws -> [RecordValue] {
        switch value {
        case .null: return []
        case .list(let list) where relationship.isToMany: return list
        case .text(let text) where relationship.isToMany && joinsMembers: return MemberList.members(text).map(RecordValue.text)
        case .text, .number: return [value]
        default:
            throw ToolError.failure(
                "\(relationship.name) is a relationship and takes a key\(relationship.isToMany ? " or a list of keys" : ""), not \(AttributeText.describe(value))")
        }
    }

    private func destination(_ value: RecordValue, _ relationship: NSRelationshipDescription) throws -> NSManagedObject {
        let lookup = try lookup(of: relationship)
        guard let identity = try AttributeText.value(value, for: lookup.attribute) else {
            throw ToolError.failure("\(relationship.name) holds null")
        }
        if let known = try lookup.find(identity) { return known }
        let made = try lookup.make(identity)
        awaitedInBatch.append(made)
        return made
    }

    private func lookup(of relationship: NSRelationshipDescription) throws -> UniqueLookup {
        guard let destination = relationship.destinationEntity else { throw ToolError.failure("\(relationship.name) leads nowhere") }
        if let known = lookups[ObjectIdentifier(destination)] { return known }
        guard let attribute = destination.uniqueAttribute else {
            throw ToolError.failure(
                "\(relationship.name) cannot be connected: \(destination.name ?? "") has no uniqueness constraint over one attribute")
        }
        guard !destination.isAbstract else {
            throw ToolError.failure("\(relationship.name) cannot be connected: \(destination.name ?? "") is abstract")
        }
        let made = UniqueLookup(entity: destination, attribute: attribute, context: open.context)
        lookups[ObjectIdentifier(destination)] = made
        return made
    }

    // MARK: The end

    /// With `--strict`, takes back what was made for records that never came.
    private func settle() throws {
        guard isStrict, !awaited.isEmpty else { return }
        let names = awaited.prefix(5).map { id -> String in
            let object = open.context.object(with: id)
            let attribute = lookups.values.first { $0.entity === object.entity }?.attribute
            return "\(object.entity.name ?? "") \(attribute.flatMap { object.attributeValue($0) }.map { "\($0)" } ?? "?")"
        }
        let count = awaited.count
        for id in awaited { open.context.delete(open.context.object(with: id)) }
        try open.context.save()
        throw ToolError.failure(
            "\(count) destinations never came, among them \(names.sorted().joined(separator: ", ")); the records are saved without them")
    }

    func summary(seconds: Double) -> [String] {
        let records = inserted + updated
        let rate = seconds > 0 ? Int(Double(records) / seconds) : records
        var lines = ["\(Output.number(records)) records: \(Output.number(inserted)) inserted, \(Output.number(updated)) updated, "
            + "\(Output.number(edges)) connections; \(String(format: "%.2f", seconds)) s, \(Output.number(rate)) records a second"]
        if !awaited.isEmpty {
            let counts = Dictionary(grouping: awaited) { $0.entity.name ?? "" }.mapValues(\.count).sorted { $0.key < $1.key }
            lines.append("made with their key alone: " + counts.map { "\(Output.number($0.value)) \($0.key)" }.joined(separator: ", "))
        }
        return lines
    }
}
