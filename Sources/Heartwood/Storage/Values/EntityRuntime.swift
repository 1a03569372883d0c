import Foundation
import RecordLog
import Synchronization

/// One property of an entity as the runtime uses it.
struct PropertyRuntime {
    let name: String
    let kind: PropertyKind
    let isTransient: Bool
    /// The value of a newly inserted object.
    let initial: ManagedValue
    /// A relationship's destination; nil for attributes.
    let destination: NSEntityDescription?
    /// The index of the inverse among the destination's properties; nil without one.
    let inverse: Int?
    /// Whether the inverse is to-many; meaningless without one.
    let inverseIsToMany: Bool
    let isOrdered: Bool
    /// Whether the inverse keeps an order; false without one.
    let inverseIsOrdered: Bool
    let isItsOwnInverse: Bool
    let deleteRule: NSDeleteRule
    /// Of a composite attribute: its elements; nil for everything else.
    var elements: [CompositeElement]?

    init(_ property: NSPropertyDescription) {
        name = property.name
        kind = PropertyKind(property)
        isTransient = property.isTransient
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

    /// Members as the relationship's value.
    func collection(_ members: [NSObject]) -> Any {
        isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }

    /// See `EntityRuntime.pairs`.
    var isPaired: Bool {
        guard inverse != nil, !isTransient else { return false }
        guard kind == .toMany else { return !inverseIsToMany || inverseIsOrdered }
        return isItsOwnInverse || isOrdered && !inverseIsToMany
    }

    /// Whether a change of this property changes the object's own row.
    var hasColumn: Bool { !isTransient && kind.columnType != nil }
}

/// An entity in one store: what objects of it need at run time, in arrays by property index.
///
/// Immutable once made; a coordinator makes one for each concrete entity of each store and keeps them.
final class EntityRuntime: @unchecked Sendable {
    let entity: NSEntityDescription
    /// The class as a word, 0 until the first object is made: code may name its class only after the store was added.
    let resolvedClass = Atomic<UInt>(0)
    /// The high 16 bits of the keys of its objects.
    let slot: UInt16
    /// The store. nil once it was removed and is gone; objects may outlive it.
    private(set) weak var holder: (any IdentifyingStore)?
    /// The store's: added to a row reference's bits, this makes the key of the same object in the coordinator.
    let slotBase: UInt64
    /// Whether the store was removed from its coordinator.
    private let retired = Atomic<Bool>(false)
    let properties: [PropertyRuntime]
    let indexByName: [String: Int]
    /// What saves check, in the order of the properties.
    let checks: [PropertyCheck]
    /// By property index.
    let checksByProperty: [PropertyCheck?]
    /// The relationships that keep an object from being deleted.
    let deniers: [Int]
    /// The relationships of which each side is stored by itself, while one of them says what the other must be: one to one, ordered
    /// ones to many with the inverse to one, and those to many that are their own inverse.
    let pairs: [Int]
    let hasTransients: Bool
    /// Whether values of objects may lie outside of their rows.
    let hasExternalData: Bool
    /// The values of a newly inserted object.
    let initialValues: [ManagedValue]
    /// By layout ID, then by property index: where the column lies in a row; nil for a property without a column there.
    let layouts: Layouts
    typealias Layouts = UnsafeMutableBufferPointer<UnsafeMutablePointer<ColumnAccess>?>
    private let propertyCount: Int
    /// What generated accessors of the objects' classes look up.
    let accessorTables = AccessorTables()

    /// - Parameter accesses: by layout ID, by property index.
    init(entity: NSEntityDescription, slot: UInt16, store: (any IdentifyingStore)?, accesses: [[ColumnAccess]?]) {
        self.entity = entity
        self.slot = slot
        holder = store
        slotBase = store?.slotBase ?? .max
        let list = CompositeElement.connect(entity.frozenProperties.map(PropertyRuntime.init), of: entity)
        properties = list
        indexByName = entity.propertyIndexByName
        propertyCount = properties.count
        initialValues = list.map(\.initial)
        checksByProperty = entity.frozenProperties.map(\.check)
        checks = checksByProperty.compactMap(\.self)
        deniers = list.indices.filter { list[$0].deleteRule == .denyDeleteRule && list[$0].kind.isRelationship }
        pairs = list.indices.filter { list[$0].isPaired }
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

    /// What the coordinator says when it removes the store.
    func retire() { retired.store(true, ordering: .relaxed) }

    /// Where the columns of a row written with `layout` lie, by property index; nil for a layout unknown here.
    @inline(__always)
    func accesses(_ layout: LayoutID) -> UnsafeMutablePointer<ColumnAccess>? {
        let id = Int(layout.rawValue)
        return id < layouts.count ? layouts[id] : nil
    }

    /// Where a property lies in `row`; nil where the row's layout has no such column, or the value is null.
    @inline(__always)
    func access(_ property: Int, in row: RowView) -> ColumnAccess? { layouts.access(property, in: row) }

    func index(of name: String) -> Int? {
        indexByName[name]
    }

    /// The property that key-value coding sets for a key: `setDate:` is the accessor of "date" and of "Date".
    func indexToSet(_ key: String) -> Int? {
        indexByName[key] ?? key.first.flatMap { first in
            indexByName[(first.isUppercase ? first.lowercased() : first.uppercased()) + key.dropFirst()]
        }
    }

    /// The property that key-value coding reads for a key: that of "Date" is "date" too.
    func indexToRead(_ key: String) -> Int? {
        indexByName[key] ?? key.first.flatMap { $0.isUppercase ? indexByName[$0.lowercased() + key.dropFirst()] : nil }
    }
}

extension EntityRuntime.Layouts {
    /// See `EntityRuntime.access`.
    @inline(__always)
    func access(_ property: Int, in row: RowView) -> ColumnAccess? {
        let layout = Int(row.layoutID.rawValue)
        guard layout < count, let accesses = self[layout] else { return nil }
        let access = accesses[property]
        return access.isAbsent || row.isNull(access) ? nil : access
    }
}
