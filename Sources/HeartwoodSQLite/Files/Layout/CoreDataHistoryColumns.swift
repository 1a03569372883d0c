import Heartwood

/// The order in which Core Data's history names the properties of an entity.
///
/// (1) `ACHANGE.ZCOLUMNS` has a bit for each slot, the most significant bit of the first byte first. Facts, "ZCOLUMNS".
/// (2) The slots are to-one relationships, entity keys, order keys, attributes with composites' leaves, to-many relationships; in each group the
///     root entity's come first, then by name. Facts, "ZCOLUMNS". No case shows the order of the second and the third group.
/// (4) Nothing shows the order within the last group. So a to-many relationship is named only if the entity has no other, or all bits are set.
/// (3) `ZTOMBSTONE<k>` is the k-th attribute that is preserved after deletion, the root entity's first, then by name. Facts, "tombstones".
struct CoreDataHistoryColumns {
    /// By slot, the index of the property; nil for keys, which are no property of the entity.
    let slots: [Int?]
    /// By number of the tombstone column, the index of the attribute.
    let tombstones: [Int]
    /// The slots of to-many relationships.
    private let toManySlots: Range<Int>

    init(of entity: CoreDataLayout.Entity) {
        let own = entity.entity.chain.flatMap(\.ownPropertiesByName).filter { !$0.property.isTransient && entity.places[$0.index] != nil }
        func indexes(_ holds: (CoreDataLayout.Place, NSPropertyDescription) -> Bool) -> [Int] {
            own.compactMap { index, property in entity.places[index].flatMap { holds($0, property) ? index : nil } }
        }
        let toOnes = indexes { place, _ in if case .toOne = place { true } else { false } }
        let entityKeys = indexes { place, _ in if case .toOne(_, entity: _?) = place { true } else { false } }
        let orderKeys = indexes { _, property in
            guard let relationship = property as? NSRelationshipDescription, !relationship.isToMany else { return false }
            return relationship.inverseRelationship?.isOrdered ?? false
        }
        let attributes = indexes { place, _ in if case .column = place { true } else { false } }
        let toManys = indexes { place, _ in
            switch place {
            case .inverse, .join: true
            case .column, .toOne: false
            }
        }
        let keyed = toOnes.count + entityKeys.count + orderKeys.count + attributes.count
        toManySlots = keyed..<keyed + toManys.count
        slots = toOnes.map { $0 } + (entityKeys + orderKeys).map { _ in nil } + attributes.map { $0 } + toManys.map { $0 }
        tombstones = attributes.filter { index in
            (entity.entity.propertiesByIndex[index] as? NSAttributeDescription)?.preservesValueInHistoryOnDeletion ?? false
        }
    }

    /// The properties whose bits are set in `ZCOLUMNS`; bits behind the slots are ignored.
    func properties(in bitmap: some Collection<UInt8>) -> [Int] {
        var result: [Int] = [], toManys: [Int] = []
        for (byte, bits) in bitmap.enumerated() where bits != 0 {
            for bit in 0..<8 where bits & (0x80 >> UInt8(bit)) != 0 {
                let slot = byte * 8 + bit
                guard slot < slots.count, let property = slots[slot] else { continue }
                if toManySlots.contains(slot) { toManys.append(property) } else { result.append(property) }
            }
        }
        return toManys.count == toManySlots.count ? result + toManys : result
    }
}
