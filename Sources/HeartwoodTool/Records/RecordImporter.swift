import Foundation
import Heartwood

/// Turns records into objects, and saves once for each batch.
final class RecordImporter {
    /// The entity of records, with the properties that the importer needs.
    private struct Target {
        let entity: NSEntityDescription
        let properties: [String: NSPropertyDescription]
        /// nil if records are told apart by their labels.
        let lookup: UniqueLookup?
    }

    private let open: OpenStore
    /// The entity of the lines that state none.
    private let entity: NSEntityDescription?
    private let batch: Int
    private let isStrict: Bool
    private let labels: ImportLabels
    private var targets: [String: Target] = [:]
    /// Look-ups by destination entity.
    private var lookups: [ObjectIdentifier: UniqueLookup] = [:]

    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var edges = 0
    /// Objects with a key that other lines refer to and whose own record has not come. Only these and the labels outlive a batch.
    private var unresolved: Set<NSManagedObjectID> = []
    /// Awaited objects of the current batch, which have no permanent ID yet.
    private var unresolvedInBatch: [ObjectIdentifier: NSManagedObject] = [:]
    /// Awaited objects that cannot be saved before their own records come, because a required value is missing.
    private var unfinished: Set<ObjectIdentifier> = []
    private var needs: [ObjectIdentifier: Bool] = [:]
    private var firstLine = 1
    private var line = 1
    private var hasSaved = false
    private var joinsMembers = false

    /// - Parameter entity: the entity of the lines that state none; nil if each line must state its own.
    /// - Parameter key: see `key(named:of:)`; nil if lines have labels.
    init(open: OpenStore, entity: NSEntityDescription?, key: NSAttributeDescription?, batch: Int, isStrict: Bool) {
        self.open = open
        self.entity = entity
        self.batch = batch
        self.isStrict = isStrict
        labels = ImportLabels(context: open.context)
        guard let entity else { return }
        let lookup = key.map { UniqueLookup(entity: entity, attribute: $0, context: open.context) }
        targets[entity.name ?? ""] = Self.target(entity, lookup)
        lookups[ObjectIdentifier(entity)] = lookup
    }

    private static func target(_ entity: NSEntityDescription, _ lookup: UniqueLookup?) -> Target {
        let properties = Dictionary(entity.orderedProperties.map { ($0.name, $0) }) { first, _ in first }
        return Target(entity: entity, properties: properties, lookup: lookup)
    }

    /// The attribute that tells records and objects apart.
    /// - Throws: if the attribute cannot serve as a key.
    static func key(named key: String, of entity: NSEntityDescription) throws -> NSAttributeDescription {
        guard let attribute = entity.orderedProperties.first(where: { $0.name == key }) as? NSAttributeDescription else {
            let suggestion = Spelling.suggestion(for: key, among: entity.attributesByName.keys.sorted())
            throw ToolError.usage("\(entity.name ?? "") has no attribute \"\(key)\"\(suggestion) to be the key")
        }
        guard !attribute.isTransient else { throw ToolError.usage("\(key) is transient, so no store has it, and it cannot be the key") }
        guard !attribute.allowsExternalBinaryDataStorage || attribute.attributeType != .binaryDataAttributeType else {
            throw ToolError.usage("\(key) holds data outside its rows, which cannot be the key")
        }
        guard attribute.attributeType != .transformableAttributeType
        else { throw ToolError.usage("\(key) is transformable, and cannot be the key") }
        guard !entity.isAbstract else { throw ToolError.usage("\(entity.name ?? "") is abstract; name one of its subentities") }
        return attribute
    }

    func run(_ reader: any RecordReader, progress: () -> Void) throws {
        var count = 0
        joinsMembers = reader.joinsMembers
        while let record = try next(reader) {
            if count == 0 { firstLine = record.line }
            line = record.line
            do {
                try take(record)
            } catch {
                throw ToolError.failure("line \(record.line): \(ToolError.sentence(of: error)) \(kept)")
            }
            count += 1
            // A batch continues until everything that it needs has come.
            if count >= batch, unfinished.isEmpty {
                try save(through: record.line)
                count = 0
                firstLine = record.line + 1
                progress()
            }
        }
        try refuseUnknownLabels()
        try save(through: nil)
        try settle()
    }

    private func next(_ reader: any RecordReader) throws -> Record? {
        do { return try reader.next() } catch { throw ToolError.failure("\(ToolError.sentence(of: error)) \(kept)") }
    }

    /// The part of an error message about the objects that are in the store when an import stops.
    private var kept: String {
        (hasSaved ? "Lines before \(firstLine) are saved" : "Nothing is saved") + "; correct it and import the file again"
    }

    private func save(through line: Int?) throws {
        do {
            try open.context.save()
        } catch {
            throw ToolError.failure("lines \(firstLine) to \(line.map(String.init) ?? "the end"): \(ToolError.sentence(of: error)) \(kept)")
        }
        hasSaved = true
        for object in unresolvedInBatch.values where object.managedObjectContext != nil { unresolved.insert(object.objectID) }
        unresolvedInBatch.removeAll(keepingCapacity: true)
        for lookup in lookups.values { lookup.endBatch() }
        labels.endBatch()
    }

    // MARK: Records

    private func target(of record: Record) throws -> Target {
        guard let name = try record.text(Record.entityName) ?? entity?.name else {
            throw ToolError.failure("the record does not say of which entity it is; give --entity, or \"\(Record.entityName)\" in each line")
        }
        if let known = targets[name] { return known }
        guard let declared = open.model.entitiesByName[name], open.entities.contains(where: { $0 === declared }) else {
            throw ToolError.failure("there is no entity \"\(DisplayWidth.printable(name))\" in this store")
        }
        guard !declared.isAbstract else { throw ToolError.failure("the entity \(name) is abstract, so it has no objects of its own") }
        let made = Self.target(declared, nil)
        targets[name] = made
        return made
    }

    private func take(_ record: Record) throws {
        let target = try target(of: record)
        let object = try object(of: record, target)
        let others = [target.lookup?.attribute.name, Record.labelName, Record.entityName]
        for member in record.values where !others.contains(member.name) {
            let (name, value) = (member.name, member.value)
            switch target.properties[name] {
            case let attribute as NSAttributeDescription: try AttributeText.assign(value, to: attribute, of: object)
            case let relationship as NSRelationshipDescription: try connect(object, relationship, value)
            default:
                throw ToolError.failure(
                    "\(target.entity.name ?? "") has no property \"\(DisplayWidth.printable(name))\"\(target.entity.listedProperties(besides: name))")
            }
        }
    }

    /// The object of a record: found by its label if the label is known, else by its key; else a new one.
    private func object(of record: Record, _ target: Target) throws -> NSManagedObject {
        let label = try record.text(Record.labelName)
        var identity: Any?
        if let lookup = target.lookup {
            identity = try record.values.first { $0.name == lookup.attribute.name }
                .flatMap { try AttributeText.value($0.value, for: lookup.attribute) }
            guard identity != nil || label != nil else { throw ToolError.failure("the key \"\(lookup.attribute.name)\" is missing") }
        } else if label == nil {
            // Without either, the same command again would make each object twice.
            throw ToolError.failure(
                "the record has no \"\(Record.labelName)\"; name the attribute that tells the records of \(target.entity.name ?? "") apart by --key")
        }
        if let label, let known = try labels.find(label) {
            guard known.entity === target.entity else {
                throw ToolError.failure(
                    "\(quoted(label)) is of the entity \(known.entity.name ?? ""), and this record of \(target.entity.name ?? "")")
            }
            let isNew = labels.arrived(label)
            if isNew { inserted += 1 } else { updated += 1 }
            unfinished.remove(ObjectIdentifier(known))
            if let identity, let lookup = target.lookup { try known.assign(identity, to: lookup.attribute) }
            return known
        }
        let object: NSManagedObject
        if let identity, let lookup = target.lookup {
            if let known = try find(identity, lookup) {
                object = known
                if arrived(known) { inserted += 1 } else { updated += 1 }
            } else {
                object = try lookup.make(identity)
                inserted += 1
            }
        } else {
            object = NSManagedObject(entity: target.entity, insertInto: open.context)
            inserted += 1
        }
        if let label { labels.add(object, label) }
        return object
    }

    /// Whether this object was made because another line refers to it, and its own record has now come.
    private func arrived(_ object: NSManagedObject) -> Bool {
        unfinished.remove(ObjectIdentifier(object))
        return unresolvedInBatch.removeValue(forKey: ObjectIdentifier(object)) != nil || unresolved.remove(object.objectID) != nil
    }

    /// Notes an object that was made because a line refers to it.
    private func note(_ made: NSManagedObject, key: NSAttributeDescription?) {
        let entity = made.entity
        let hasRequired = needs[ObjectIdentifier(entity)] ?? entity.orderedProperties.contains { property in
            guard !property.isOptional, !property.isTransient, property !== key else { return false }
            guard let attribute = property as? NSAttributeDescription else { return true }
            return attribute.defaultValue == nil && attribute.attributeType != .compositeAttributeType
        }
        needs[ObjectIdentifier(entity)] = hasRequired
        if hasRequired { unfinished.insert(ObjectIdentifier(made)) }
    }

    // MARK: Relationships

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
        // Other records may have set the inverses already, in another order.
        if object.isInserted && !relationship.isOrdered || object.destinations(of: relationship).isEmpty {
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
        case .text, .number, .object: return [value]
        default:
            throw ToolError.failure(
                "\(relationship.name) is a relationship and takes a key\(relationship.isToMany ? " or a list of keys" : ""), not "
                    + AttributeText.describe(value))
        }
    }

    private func destination(_ value: RecordValue, _ relationship: NSRelationshipDescription) throws -> NSManagedObject {
        guard let entity = relationship.destinationEntity else { throw ToolError.failure("\(relationship.name) leads nowhere") }
        switch value {
        case .object(let members):
            let reference = Record(line: line, values: members)
            guard members.allSatisfy({ $0.name == Record.labelName || $0.name == Record.entityName }),
                let label = try reference.text(Record.labelName)
            else {
                throw ToolError.failure(
                    "\(relationship.name) is a relationship and names objects as {\"\(Record.labelName)\": LABEL}; their values stand in their "
                        + "own lines")
            }
            return try labelled(label, try reference.text(Record.entityName), relationship, entity)
        case .text(let label) where entity.uniqueAttribute == nil && lookups[ObjectIdentifier(entity)] == nil:
            return try labelled(label, nil, relationship, entity)
        default: break
        }
        let lookup = try lookup(of: relationship, entity)
        guard let identity = try AttributeText.value(value, for: lookup.attribute) else {
            throw ToolError.failure("\(relationship.name) holds null")
        }
        if let known = try find(identity, lookup) { return known }
        let made = try lookup.make(identity)
        unresolvedInBatch[ObjectIdentifier(made)] = made
        note(made, key: lookup.attribute)
        return made
    }

    /// The object with a label; an object of its entity, to be filled later, if its line has not come yet.
    private func labelled(
        _ label: String, _ given: String?, _ relationship: NSRelationshipDescription, _ destination: NSEntityDescription
    ) throws -> NSManagedObject {
        if let known = try labels.find(label) {
            guard known.entity.isKindOf(entity: destination) else {
                throw ToolError.failure(
                    "\(relationship.name) leads to \(destination.name ?? ""), and \(quoted(label)) is of the entity \(known.entity.name ?? "")")
            }
            return known
        }
        let name = given ?? ImportLabels.entityName(in: label)
        guard let entity = name.map({ open.model.entitiesByName[$0] }) ?? (destination.subentities.isEmpty ? destination : nil), !entity.isAbstract,
            entity.isKindOf(entity: destination), open.entities.contains(where: { $0 === entity })
        else {
            throw ToolError.failure(
                "\(relationship.name) names \(quoted(label)) before its line, and does not say of which entity it is; write "
                    + "{\"\(Record.labelName)\": LABEL, \"\(Record.entityName)\": ENTITY}, with \(destination.name ?? "") or a subentity of it")
        }
        let made = NSManagedObject(entity: entity, insertInto: open.context)
        labels.await(made, label, line: line)
        note(made, key: nil)
        return made
    }

    private func quoted(_ label: String) -> String { "\"\(DisplayWidth.printable(String(label.prefix(100))))\"" }

    /// A store in a database has no index that the look-up reads, so it is asked.
    private func find(_ identity: Any, _ lookup: UniqueLookup) throws -> NSManagedObject? {
        if let known = try lookup.find(identity) { return known }
        guard open.log == nil else { return nil }
        let request = NSFetchRequest<NSManagedObject>(entityName: lookup.entity.title)
        (request.includesSubentities, request.includesPendingChanges, request.fetchLimit) = (false, false, 1)
        request.predicate = NSComparisonPredicate.equality(lookup.attribute.name, identity)
        return try open.context.fetch(request).first { !$0.isDeleted }
    }

    private func lookup(of relationship: NSRelationshipDescription, _ destination: NSEntityDescription) throws -> UniqueLookup {
        if let known = lookups[ObjectIdentifier(destination)] { return known }
        guard let attribute = destination.uniqueAttribute else {
            throw ToolError.failure(
                "\(relationship.name) takes a label, which is a text: \(destination.name ?? "") has no uniqueness constraint over one attribute")
        }
        guard !destination.isAbstract else {
            throw ToolError.failure(
                "\(relationship.name) takes {\"\(Record.labelName)\": LABEL}: \(destination.name ?? "") is abstract, so a key does not say of "
                    + "which entity an object is")
        }
        let made = UniqueLookup(entity: destination, attribute: attribute, context: open.context)
        lookups[ObjectIdentifier(destination)] = made
        return made
    }

    // MARK: The end

    /// Deletes objects made for labels that no line has: nothing is known of them.
    private func refuseUnknownLabels() throws {
        guard let first = labels.firstUnresolved else { return }
        open.context.rollback()
        for id in labels.savedUnresolved { open.context.delete(open.context.object(with: id)) }
        try open.context.save()
        let others = first.count > 1 ? ", and \(Output.count(first.count - 1, "more is", "more are")) unknown" : ""
        throw ToolError.failure(
            "line \(first.line): no line of this file has the label \(quoted(first.label)), and it is no object of this store\(others). \(kept)")
    }

    /// With `--strict`, deletes objects made for records that never came.
    private func settle() throws {
        guard isStrict, !unresolved.isEmpty else { return }
        let names = unresolved.prefix(5).map { id -> String in
            let object = open.context.object(with: id)
            let attribute = lookups.values.first { $0.entity === object.entity }?.attribute
            return "\(object.entity.name ?? "") \(attribute.flatMap { object.attributeValue($0) }.map { "\($0)" } ?? "?")"
        }
        let count = unresolved.count
        for id in unresolved { open.context.delete(open.context.object(with: id)) }
        try open.context.save()
        throw ToolError.failure(
            "\(Output.count(count, "destination is", "destinations are")) missing, among them \(names.sorted().joined(separator: ", ")); the records are saved without them")
    }

    func summary(seconds: Double) -> [String] {
        let records = inserted + updated
        let rate = seconds > 0 ? Int(Double(records) / seconds) : records
        var lines = ["\(Output.count(records, "record")): \(Output.number(inserted)) inserted, \(Output.number(updated)) updated, "
            + "\(Output.count(edges, "connection")); \(String(format: "%.2f", seconds)) s, \(Output.count(rate, "record")) a second"]
        if !unresolved.isEmpty {
            let counts = Dictionary(grouping: unresolved) { $0.entity.name ?? "" }.mapValues(\.count).sorted { $0.key < $1.key }
            lines.append("made with only their key: " + counts.map { "\(Output.number($0.value)) \($0.key)" }.joined(separator: ", "))
        }
        return lines
    }
}
