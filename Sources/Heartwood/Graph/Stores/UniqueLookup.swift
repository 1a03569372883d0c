import Foundation
import RecordLog

/// Finds objects by the value of one attribute, fast enough for each edge of an import. Unsaved objects are in a dictionary that the caller's
/// batches keep small; saved ones are found through the attribute's index.
///
/// A fetch's `CachedLookupPlan` does not serve here: it knows texts and integers under a constraint. An import has values of all types, and
/// perhaps no index.
package final class UniqueLookup {
    package let entity: NSEntityDescription
    package let attribute: NSAttributeDescription
    private let context: NSManagedObjectContext
    private let index: Int
    private let kind: PropertyKind
    /// Objects found or made in this batch.
    private var recent: [ExactText: NSManagedObject] = [:]

    package init(entity: NSEntityDescription, attribute: NSAttributeDescription, context: NSManagedObjectContext) {
        self.entity = entity
        self.attribute = attribute
        self.context = context
        index = attribute.index
        kind = PropertyKind(attribute)
    }

    /// Forgets the objects of the batch that was saved.
    package func endBatch() {
        recent.removeAll(keepingCapacity: true)
    }

    /// The object whose attribute has this value, or nil.
    /// - Parameter value: in the type that key-value coding accepts.
    package func find(_ value: Any) throws -> NSManagedObject? {
        let text = ExactText(Self.text(value))
        if let known = recent[text] { return known.isDeleted ? nil : known }
        guard let converted = ManagedValue(attributeObject: value, kind: kind) else { return nil }
        let runtime = context.runtime(for: entity)
        guard let store = runtime.store, let view = try context.view(of: store).logView,
            let reference = try view.find(converted, property: index, runtime: runtime)
        else { return nil }
        let found = context.object(for: view.key(reference))
        if let found { recent[text] = found }
        return found
    }

    /// Makes an object that has only this value.
    package func make(_ value: Any) throws -> NSManagedObject {
        let object = context.objectClass(of: entity).init(entity: entity, insertInto: context)
        try object.setValue(value, at: index)
        recent[ExactText(Self.text(value))] = object
        return object
    }

    /// `description` would omit fractions of seconds and the bytes of data.
    private static func text(_ value: Any) -> String { DefaultValueText.text(value) ?? "" }
}

extension RecordLogView {
    /// The row whose attribute has this value. Uses an index that starts with the attribute, or else scans.
    func find(_ value: ManagedValue, property: Int, runtime: EntityRuntime) throws -> RowReference? {
        let id = TableID(rawValue: UInt16(truncatingIfNeeded: UInt64(runtime.slot) &- (slotBase >> 48)))
        guard let table = schema.table(id), let position = table.positions[property] else { return nil }
        let builder = RowBuilder()
        builder.begin(table.layout)
        try value.encode(into: builder, at: position)
        let body = builder.unsafeBody()
        guard let base = body.baseAddress else { return nil }
        let row = UnsafeRowView(body: base, byteCount: body.count, reference: RowReference(rawValue: 0), version: 0)
        let candidates = table.indexes.filter { $0.parts.first?.property == property && $0.partial == nil && snapshot.hasIndex($0.id) }
        if let index = candidates.first(where: { $0.isUnique && $0.parts.count == 1 }) ?? candidates.first {
            let key = KeyBuilder()
            key.append(column: table.layout.access[position], of: row, descending: !index.parts[0].isAscending)
            return try snapshot.firstRow(index.id, prefix: key).map { RowReference(table: id, row: $0) }
        }
        let wanted = KeyBuilder()
        wanted.append(column: table.layout.access[position], of: row)
        var found: RowReference?
        try snapshot.scan(id) { candidate in
            guard let access = runtime.accesses(candidate.layoutID)?[property] else { return true }
            let key = KeyBuilder()
            key.append(column: access, of: candidate)
            if key.bytes == wanted.bytes { found = candidate.reference }
            return found == nil
        }
        return found
    }
}

extension NSManagedObject {
    /// Like `setValue(_:forKey:)`, for values from files: a wrong type throws instead of ending the program.
    package final func assign(_ value: Any?, to property: NSPropertyDescription) throws {
        do {
            try setValue(value, at: property.index)
        } catch {
            throw CoreDataError.make(NSManagedObjectValidationError, error.message)
        }
    }

    /// Adds a to-many relationship's member, or sets a to-one's destination.
    package final func connect(_ object: NSManagedObject, by relationship: NSRelationshipDescription) {
        if relationship.isToMany {
            addManagedObject(object, at: relationship.index)
        } else {
            setManagedObject(object, at: relationship.index)
        }
    }

    /// The destinations of a relationship.
    package final func destinations(of relationship: NSRelationshipDescription) -> [NSManagedObject] {
        relationship.isToMany ? managedObjects(at: relationship.index) : managedObject(at: relationship.index).map { [$0] } ?? []
    }

    /// The stored bytes of a transformable's value; nil for null, and for a value that was never saved.
    package final func storedData(of attribute: NSAttributeDescription) -> Data? {
        guard case .data(let bytes) = managedValue(attribute.index) else { return nil }
        return bytes
    }

    /// Sets the stored bytes of a transformable. It does not check that a transformer or an archiver made them.
    package final func setStoredData(_ bytes: Data, of attribute: NSAttributeDescription) {
        setManagedValue(.data(bytes), at: attribute.index)
    }

    /// The value of an attribute, as key-value coding returns it.
    package final func attributeValue(_ attribute: NSAttributeDescription) -> Any? {
        managedAttribute(at: attribute.index)
    }
}

extension NSAttributeDescription {
    /// Whether this transformable's values are stored in Foundation's archives, without a transformer of the program.
    package var isArchived: Bool { AttributeTransformer.isArchived(self) }
}

extension NSEntityDescription {
    /// The attribute that identifies an object by itself under a uniqueness constraint, if any.
    package var uniqueAttribute: NSAttributeDescription? {
        allUniquenessConstraints.first { $0.count == 1 }.flatMap { attributesByName[$0[0]] }
    }

    /// The properties with stored values, in their order, inherited ones first; a composite is replaced by its elements.
    package var orderedProperties: [NSPropertyDescription] {
        propertiesByIndex.filter { !($0 is NSCompositeAttributeDescription) && !($0 is NSFetchedPropertyDescription) }
    }
}
