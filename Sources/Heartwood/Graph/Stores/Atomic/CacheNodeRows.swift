import Foundation
import RecordLog

/// Makes rows from the nodes that an atomic store has loaded.
struct CacheNodeRows {
    private let transaction: Transaction
    private let schema: RecordLogSchema
    private let slotBase: UInt64
    private let nodes: [ObjectKey: NSAtomicStoreCacheNode]
    private let references: ReferenceTable
    private let builder = RowBuilder()
    /// To-one destinations that only the other side's node states: by object, by property.
    private var implied: [ObjectKey: [Int: ObjectKey]] = [:]
    private var links: [TableID: Link] = [:]

    private struct Pair: Hashable {
        let source, destination: ObjectKey
    }

    /// The pairs of one join table.
    private struct Link {
        let table: JoinTable
        var order: [Pair] = []
        var positions: [Pair: (forward: Int64?, inverse: Int64?)] = [:]

        mutating func add(_ pair: Pair, _ position: Int64?, isForward: Bool) {
            if positions[pair] == nil { order.append(pair) }
            guard let position else {
                positions[pair] = positions[pair] ?? (nil, nil)
                return
            }
            if isForward {
                positions[pair, default: (nil, nil)].forward = position
            } else {
                positions[pair, default: (nil, nil)].inverse = position
            }
        }
    }

    init(
        _ transaction: Transaction, _ schema: RecordLogSchema, slotBase: UInt64, nodes: [ObjectKey: NSAtomicStoreCacheNode],
        references: ReferenceTable
    ) {
        self.transaction = transaction
        self.schema = schema
        self.slotBase = slotBase
        self.nodes = nodes
        self.references = references
    }

    mutating func write() throws {
        let tables = schema.tables.compactMap { $0 }
        try transaction.takeNumbers(of: references, schema) { nodes[$0] != nil }
        for table in tables { for (key, node) in inOrder(table) { try gather(key, node, table) } }
        for table in tables { for (key, node) in inOrder(table) { try put(key, node, table) } }
        for link in links.values { try write(link) }
        if let watches = schema.derivations { try derive(watches) }
    }

    /// Derives all values anew, except for times, which keep the nodes' values.
    private func derive(_ watches: DerivationWatches) throws {
        let scope = DerivationScope(transaction: transaction, schema: schema) { $0.isNone ? nil : reference($0) }
        var derived = DerivedAttributes(watches, scope)
        _ = try derived.run(completing: schema.tables.compactMap { $0 }.filter { $0.derivations != nil }.flatMap { table in
            inOrder(table).map { reference($0.0) }
        })
    }

    private func inOrder(_ table: EntityTable) -> [(ObjectKey, NSAtomicStoreCacheNode)] {
        (1..<references.nextRow(slot: table.runtime.slot)).compactMap { row in
            let key = ObjectKey(slot: table.runtime.slot, row: row)
            return nodes[key].map { (key, $0) }
        }
    }

    private func wrong(_ node: NSAtomicStoreCacheNode, _ property: PropertyRuntime, _ message: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError,
            "The store was not opened: the cache node of \(node.objectID.uriRepresentation().absoluteString) has a value for "
                + "\(property.name) that \(message).",
            [NSAffectedObjectsErrorKey: [node.objectID]])
    }

    private func destinations(_ node: NSAtomicStoreCacheNode, _ property: PropertyRuntime) throws -> [ObjectKey] {
        guard let keys = NSAtomicStoreCacheNode.keys(of: node.value(forKey: property.name)) else {
            throw wrong(node, property, "is neither a node, an object ID, nor a collection of them")
        }
        for key in keys where nodes[key] == nil { throw wrong(node, property, "names an object that was not loaded") }
        return keys
    }

    /// Records the references in one node.
    private mutating func gather(_ key: ObjectKey, _ node: NSAtomicStoreCacheNode, _ table: EntityTable) throws {
        for (index, property) in table.runtime.properties.enumerated() where property.kind.isRelationship && !property.isTransient {
            let members = try destinations(node, property)
            if let inverse = property.inverse, !property.inverseIsToMany {
                for member in members where nodes[member]?.value(forKey: name(of: inverse, member)) == nil {
                    implied[member, default: [:]][inverse] = key
                }
            }
            if property.kind == .toOne {
                gather(key, owner: members.first, property)
            } else if case .link(let link, let isForward)? = table.members[index] {
                try gather(key, members, property, link, isForward: isForward)
            }
        }
    }

    private mutating func gather(
        _ key: ObjectKey, _ members: [ObjectKey], _ property: PropertyRuntime, _ link: JoinTable, isForward: Bool
    ) throws {
        let isOrdered = isForward ? link.isOrdered : link.inverse != nil
        for (index, member) in members.enumerated() {
            if link.isExclusive, let inverse = property.inverse, try owner(of: member, inverse) != key { continue }
            let pair = isForward ? Pair(source: key, destination: member) : Pair(source: member, destination: key)
            add(pair, isOrdered ? Int64(index) * LinkOrder.distance : nil, isForward: isForward, to: link)
            // A relationship that is its own inverse has both pairs.
            if property.isItsOwnInverse { add(Pair(source: member, destination: key), nil, isForward: true, to: link) }
        }
    }

    /// Records a member of an ordered relationship, which only the to-one side's node may state.
    private mutating func gather(_ key: ObjectKey, owner: ObjectKey?, _ property: PropertyRuntime) {
        guard let owner, let inverse = property.inverse, case .link(let link, isForward: true)? = source(inverse, of: owner) else { return }
        add(Pair(source: owner, destination: key), nil, isForward: true, to: link)
    }

    private mutating func add(_ pair: Pair, _ position: Int64?, isForward: Bool, to link: JoinTable) {
        links[link.id, default: Link(table: link)].add(pair, position, isForward: isForward)
    }

    private func table(of key: ObjectKey) -> EntityTable? { schema.table(of: key, slotBase: slotBase) }

    private func source(_ property: Int, of key: ObjectKey) -> MemberSource? {
        guard let table = self.table(of: key), table.members.indices.contains(property) else { return nil }
        return table.members[property]
    }

    private func name(of inverse: Int, _ key: ObjectKey) -> String {
        table(of: key)?.runtime.properties[inverse].name ?? ""
    }

    /// The destination of a to-one relationship, from the node of either side.
    private func owner(of key: ObjectKey, _ property: Int) throws -> ObjectKey? {
        guard let node = nodes[key], let table = self.table(of: key) else { return nil }
        return try destinations(node, table.runtime.properties[property]).first ?? implied[key]?[property]
    }

    private func reference(_ key: ObjectKey) -> RowReference { RowReference(rawValue: key.rawValue &- slotBase) }

    private func put(_ key: ObjectKey, _ node: NSAtomicStoreCacheNode, _ table: EntityTable) throws {
        builder.begin(table.layout)
        for (index, position) in table.positions.enumerated() {
            guard let position else { continue }
            let property = table.runtime.properties[index]
            guard property.kind != .toOne else {
                if let owner = try owner(of: key, index) { builder.set(position, reference: reference(owner)) }
                continue
            }
            guard let value = ManagedValue(attributeObject: node.value(forKey: property.name), kind: property.kind) else {
                throw wrong(node, property, "is no \(property.kind.displayName)")
            }
            let kept = try value.transformed(index, of: table.runtime.entity)
            try transaction.encode(kept, into: builder, at: position, of: table.layout)
        }
        try transaction.put(reference(key), body: builder.unsafeBody())
    }

    private func write(_ link: Link) throws {
        // Members without a position come last in the order.
        var last = link.positions.values.reduce(into: (forward: Int64(0), inverse: Int64(0))) { last, positions in
            last.forward = max(last.forward, positions.forward ?? 0)
            last.inverse = max(last.inverse, positions.inverse ?? 0)
        }
        for pair in link.order {
            let positions = link.positions[pair]
            builder.begin(link.table.layout)
            builder.set(JoinTable.sourcePosition, reference: reference(pair.source))
            builder.set(JoinTable.destinationPosition, reference: reference(pair.destination))
            if link.table.isOrdered {
                if positions?.forward == nil { last.forward += LinkOrder.distance }
                builder.set(JoinTable.orderPosition, int64: positions?.forward ?? last.forward)
            }
            if link.table.inverse != nil {
                if positions?.inverse == nil { last.inverse += LinkOrder.distance }
                builder.set(JoinTable.inverseOrderPosition, int64: positions?.inverse ?? last.inverse)
            }
            let row = RowReference(table: link.table.id, row: try transaction.newRow(in: link.table.id))
            try transaction.put(row, body: builder.unsafeBody())
        }
    }
}
