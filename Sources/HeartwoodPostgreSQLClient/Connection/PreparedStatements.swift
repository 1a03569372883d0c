/// The statements that a connection has prepared, by text and types. The one that was used longest ago leaves first.
struct PreparedStatements {
    struct Key: Hashable {
        let statement: PostgreSQLStatement
        let types: [PostgreSQLType]
    }

    private struct Entry {
        let name: String
        var lastUse: UInt64
    }

    let max: Int
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    private var names: UInt64 = 0

    init(max: Int) { self.max = max }

    var count: Int { entries.count }

    /// The name of a prepared statement, which counts as used now.
    mutating func name(of key: Key) -> String? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return entries.values[index].name
    }

    /// No name comes twice, so that a statement whose preparing failed hides nothing.
    mutating func newName() -> String {
        names += 1
        return "h\(names)"
    }

    /// - Complexity: O(1), or O(count) where one has to leave.
    /// - Returns: the name of the statement that leaves.
    mutating func insert(_ key: Key, _ name: String) -> String? {
        uses += 1
        entries[key] = Entry(name: name, lastUse: uses)
        guard entries.count > max, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return nil }
        entries[oldest.key] = nil
        return oldest.value.name
    }

    mutating func remove(_ key: Key) { entries[key] = nil }
    mutating func removeAll() { entries.removeAll() }
}
