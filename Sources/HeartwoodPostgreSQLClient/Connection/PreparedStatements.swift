/// The statements that a connection has prepared, by text and types. Where there is no room, the one that was used longest ago leaves.
///
/// unconfirmed -> confirmed -> leaving -> gone. An error may skip any statement of a batch, so each step waits for the server's answer.
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
    private var unconfirmed: [Key] = []
    /// The names of statements that the server still has and nobody uses.
    private var leaving: [String] = []
    /// Those of them that the server was asked to forget.
    private var asked: [String] = []
    private var uses: UInt64 = 0
    private var names: UInt64 = 0

    init(max: Int) { self.max = max }

    var count: Int { entries.count }

    func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// The name of a prepared statement, which counts as used now.
    mutating func name(of key: Key) -> String? {
        guard let index = entries.index(forKey: key) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return entries.values[index].name
    }

    /// Adds a statement. No name comes twice, so a statement whose preparing fails hides none.
    /// - Complexity: O(1), or O(count) where another one has to leave.
    mutating func insert(_ key: Key) -> String {
        if entries.count >= max, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries[oldest.key] = nil
            leaving.append(oldest.value.name)
        }
        names += 1
        uses += 1
        let name = "h\(names)"
        entries[key] = Entry(name: name, lastUse: uses)
        unconfirmed.append(key)
        return name
    }

    mutating func confirm(_ key: Key) { unconfirmed.removeAll { $0 == key } }

    /// Ends a batch. The server has not done what it has not confirmed.
    mutating func endBatch() {
        for key in unconfirmed { entries[key] = nil }
        unconfirmed = []
        leaving += asked
        asked = []
    }

    /// The names that the server is to be asked to forget.
    mutating func takeLeaving() -> [String] {
        defer {
            asked += leaving
            leaving = []
        }
        return leaving
    }

    mutating func hasLeft(_ name: String) { asked.removeAll { $0 == name } }

    /// - Parameter serverHasThem: false after a server has lost them, as after DISCARD ALL or behind a pooler.
    mutating func removeAll(serverHasThem: Bool) {
        leaving = serverHasThem ? leaving + entries.values.map(\.name) : []
        entries = [:]
    }
}
