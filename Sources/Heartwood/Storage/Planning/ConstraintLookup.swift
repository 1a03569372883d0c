import RecordLog

/// `email == "a@example.com"`, where `email` is a uniqueness constraint of its own: one lookup in one index, without a plan. This is the most
/// common fetch of a program, and planning it takes several times as long as answering it.
struct ConstraintLookup {
    let key: String
    let value: PredicateValue

    /// Returns the index that can answer.
    /// - Parameter prefix: a buffer; contains the index key afterwards.
    fileprivate func index(of table: EntityTable, _ snapshot: Snapshot, _ prefix: KeyBuilder) -> EntityTable.Lookup? {
        prefix.removeAll()
        for lookup in table.lookups where lookup.attribute == key && snapshot.hasIndex(lookup.index.id) {
            return value.appendComponent(to: prefix, asText: lookup.isText) ? lookup : nil
        }
        return nil
    }
}

extension PredicateValue {
    /// Appends the value as it is encoded in an index of texts or of integers.
    /// - Returns: false where the value is not of that type.
    func appendComponent(to key: KeyBuilder, asText isText: Bool) -> Bool {
        switch self {
        case .text(let text) where isText: key.append(text: text)
        case .integer(let number) where !isText: key.append(int64: number)
        default: return false
        }
        return true
    }
}

extension RecordLogView {
    func lookUp(
        _ lookup: ConstraintLookup, _ runtime: EntityRuntime, _ key: KeyBuilder, _ body: (UnsafeRowView) throws -> Void
    ) throws -> EntityTable.Lookup? {
        let table = try schema.table(of: runtime, slotBase: slotBase)
        guard let found = lookup.index(of: table, snapshot, key) else { return nil }
        if let row = try row(found.index, in: table.id, key) { try body(row) }
        return found
    }

    /// Returns the row of the first index entry that starts with a key.
    func row(_ index: TableIndex, in table: TableID, _ key: KeyBuilder) throws -> UnsafeRowView? {
        do throws(StoreError) {
            guard let number = try snapshot.firstRow(index.id, prefix: key) else { return nil }
            return try snapshot.unsafeRow(RowReference(table: table, row: number))
        } catch {
            throw RecordLogErrors.wrap(error)
        }
    }
}

extension PredicateTree {
    /// Appends the index key, where the tree is nothing but an equality of the attribute with a value.
    /// - Parameter isText: whether the attribute is text; otherwise it is an integer.
    func appendEquality(of attribute: String, asText isText: Bool, to key: KeyBuilder) -> Bool {
        if let template { return template.isEquality(of: attribute) && argument.appendComponent(to: key, asText: isText) }
        guard let equality, equality.key == attribute else { return false }
        return equality.value.appendComponent(to: key, asText: isText)
    }
}
