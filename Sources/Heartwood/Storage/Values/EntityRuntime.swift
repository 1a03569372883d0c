import Foundation
import RecordLog
import Synchronization

/// A property of an entity, prepared for use at run time.
package struct PropertyRuntime {
    package let name: String
    package let kind: PropertyKind
    let isTransient: Bool
    /// Whether the object's own row stores this property.
    package let hasColumn: Bool
    /// The value of a newly inserted object.
    let initial: ManagedValue
    /// A relationship's destination; nil for attributes.
    package let destination: NSEntityDescription?
    /// The index of the inverse among the destination's properties; nil without one.
    package let inverse: Int?
    /// Whether the inverse is to-many; undefined without an inverse.
    let inverseIsToMany: Bool
    package let isOrdered: Bool
    /// Whether the inverse is ordered; false without an inverse.
    let inverseIsOrdered: Bool
    let isItsOwnInverse: Bool
    let deleteRule: NSDeleteRule
    /// The elements of a composite attribute; nil for other properties.
    var elements: [CompositeElement]?

    init(_ property: NSPropertyDescription) {
        name = property.name
        kind = PropertyKind(property)
        isTransient = property.isTransient
        hasColumn = !property.isTransient && kind.columnType != nil
        let relationship = property as? NSRelationshipDescription
        destination = relationship?.destinationEntity
        inverse = relationship?.inverseRelationship?.index
        inverseIsToMany = relationship?.inverseRelationship?.isToMany ?? false
        isOrdered = relationship?.isOrdered ?? false
        inverseIsOrdered = relationship?.inverseRelationship?.isOrdered ?? false
        isItsOwnInverse = relationship.map { $0.inverseRelationship === $0 } ?? false
        deleteRule = relationship?.deleteRule ?? .noActionDeleteRule
        let attribute = property as? NSAttributeDescription
        initial = attribute?.defaultValue.flatMap { ManagedValue(attributeObject: $0, kind: PropertyKind(property)) } ?? .null
    }

    /// Returns the members as the relationship's value.
    func collection(_ members: [NSObject]) -> Any {
        isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }

    /// See `EntityRuntime.pairs`.
    var isPaired: Bool {
        guard inverse != nil, !isTransient else { return false }
        guard kind == .toMany else { return !inverseIsToMany || inverseIsOrdered }
        return isItsOwnInverse || isOrdered && !inverseIsToMany
    }

    var isManyToMany: Bool { kind == .toMany && inverse != nil && inverseIsToMany && !isTransient }
}

/// An entity bound to one store: the tables that its objects need at run time, by property index.
///
/// Immutable. A coordinator creates one for each concrete entity of each store and keeps it.
package final class EntityRuntime: @unchecked Sendable {
    package let entity: NSEntityDescription
    /// The object class as a word; 0 until the first object is created, because code may set the class name after the store was added.
    let resolvedClass = Atomic<UInt>(0)
    /// The upper 16 bits of the objects' keys.
    package let slot: UInt16
    /// The store; nil once it was removed and deallocated. Objects may outlive it.
    @exclusivity(unchecked) package private(set) weak var holder: (any IdentifyingStore)?
    /// The store's slot base. A row reference's bits plus the slot base are the object's key in the coordinator.
    let slotBase: UInt64
    /// The store's serial number; 0 without a store.
    let serialNumber: UInt64
    /// Whether the store was removed from its coordinator.
    private let retired = Atomic<Bool>(false)
    package let properties: [PropertyRuntime]
    private let names: PropertyNames
    /// The checks of a save, in the order of the properties.
    let checks: [PropertyCheck]
    /// By property index.
    let checksByProperty: [PropertyCheck?]
    /// The relationships that can deny a deletion.
    let denyRelationships: [Int]
    /// The relationships whose two sides are stored separately although one determines the other: one-to-one, ordered to-many with a to-one
    /// inverse, and to-many that are their own inverse.
    let pairs: [Int]
    /// The to-many relationships with another to-many relationship as their inverse. A store of a program's own class keeps each side by itself.
    let manyToMany: [Int]
    let hasTransients: Bool
    /// Whether values may be stored outside rows.
    let hasExternalData: Bool
    /// The values of a newly inserted object.
    let initialValues: [ManagedValue]
    /// By layout ID, then by property index: the column's access; absent for a property without a column in the layout.
    let layouts: Layouts
    typealias Layouts = UnsafeMutableBufferPointer<UnsafeMutablePointer<ColumnAccess>?>
    /// Accesses to defaults lead to memory of the layouts.
    private let sources: [RowLayout]
    private let propertyCount: Int
    /// Used by generated accessors.
    let accessorTables = AccessorTables()

    /// - Parameters:
    ///   - accesses: by layout ID, then by property index.
    ///   - sources: the layouts of the accesses.
    init(
        entity: NSEntityDescription, slot: UInt16, store: (any IdentifyingStore)?, accesses: [[ColumnAccess]?], of sources: [RowLayout] = []
    ) {
        self.entity = entity
        self.sources = sources
        self.slot = slot
        holder = store
        slotBase = store?.slotBase ?? .max
        serialNumber = store?.serialNumber ?? 0
        let list = CompositeElement.connect(entity.propertiesByIndex.map(PropertyRuntime.init), of: entity)
        properties = list
        names = PropertyNames(list.map(\.name), entity.propertyIndexByName)
        propertyCount = properties.count
        initialValues = list.map(\.initial)
        checksByProperty = entity.propertiesByIndex.map(\.check)
        checks = checksByProperty.compactMap(\.self)
        denyRelationships = list.indices.filter { list[$0].deleteRule == .denyDeleteRule && list[$0].kind.isRelationship }
        pairs = list.indices.filter { list[$0].isPaired }
        manyToMany = list.indices.filter { list[$0].isManyToMany && !list[$0].isItsOwnInverse }
        hasTransients = list.contains(where: \.isTransient)
        hasExternalData = list.contains { $0.kind == .externalData }
        layouts = .allocate(capacity: accesses.count)
        for (id, table) in accesses.enumerated() {
            guard let table else {
                layouts.initializeElement(at: id, to: nil)
                continue
            }
            precondition(table.count == propertyCount, "a layout is mapped to every property")
            let copy = UnsafeMutablePointer<ColumnAccess>.allocate(capacity: max(table.count, 1))
            copy.initialize(from: table, count: table.count)
            layouts.initializeElement(at: id, to: copy)
        }
    }

    deinit {
        for table in layouts { table?.deallocate() }
        layouts.deallocate()
    }

    var isRetired: Bool { retired.load(ordering: .relaxed) }

    /// Called by the coordinator when it removes the store.
    func retire() { retired.store(true, ordering: .relaxed) }

    /// Returns the accesses of a layout's columns, by property index; nil for an unknown layout.
    @inline(__always)
    func accesses(_ layout: LayoutID) -> UnsafeMutablePointer<ColumnAccess>? {
        let id = Int(layout.rawValue)
        return id < layouts.count ? layouts[id] : nil
    }

    /// Returns a property's access in `row`; nil where the row has no such column, or the value is null.
    @inline(__always)
    func access(_ property: Int, in row: UnsafeRowView) -> ColumnAccess? { layouts.access(property, in: row) }

    package func index(of name: String) -> Int? { names[name] }

    /// Returns the name of a relationship's inverse; nil for one without, and for an attribute.
    package func inverseName(_ property: Int) -> String? {
        (entity.property(at: property) as? NSRelationshipDescription)?.inverseRelationship?.name
    }

    /// Returns the property that key-value coding sets for a key: `setDate:` sets "date" or "Date".
    func indexToSet(_ key: String) -> Int? {
        names[key] ?? key.first.flatMap { first in
            names[(first.isUppercase ? first.lowercased() : first.uppercased()) + key.dropFirst()]
        }
    }

    /// Returns the property that key-value coding reads for a key: "Date" reads "date" too.
    func indexToRead(_ key: String) -> Int? {
        names[key] ?? key.first.flatMap { $0.isUppercase ? names[$0.lowercased() + key.dropFirst()] : nil }
    }
}

extension EntityRuntime.Layouts {
    /// See `EntityRuntime.access`.
    @inline(__always)
    func access(_ property: Int, in row: UnsafeRowView) -> ColumnAccess? {
        let layout = Int(row.layoutID.rawValue)
        guard layout < count, let accesses = self[layout] else { return nil }
        let access = accesses[property]
        return access.isAbsent || row.isNull(access) ? nil : access
    }
}
