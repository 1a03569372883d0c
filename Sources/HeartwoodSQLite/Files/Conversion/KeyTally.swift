import Heartwood
internal import HeartwoodSQLiteFile

/// The values of one column that may have keys, beside the keys of the entities that it may lead to.
struct KeyTally {
    /// The entities without subentities in one table of the file.
    struct Family {
        let root: Int64
        let keys: CoreDataKeys
        let members: Set<Int64>
        /// The greatest key that was given.
        let keyMax: Int64
    }

    /// Column of the file's table.
    let position: Int
    /// The number of values.
    private(set) var count = 0
    /// The first values that differ, three at most.
    private(set) var samples: [Int64] = []
    /// Whether each value is an integer.
    private(set) var isOfKeys = true
    /// The families, by index, in which each value is a key, with the members that have them all.
    private(set) var fitting: [(family: Int, members: Set<Int64>)]
    /// By entity with the column's name: the values that are keys of none of its rows; as many as can be if one was never a key.
    private(set) var missing: [Int64: Int]
    /// Sums over (row, key) and over (key, row). Of two columns that are inverse each has the other's.
    private(set) var forward: UInt64 = 0, backward: UInt64 = 0
    /// The number of rows that do not name their own number.
    private(set) var moved = 0

    /// - Parameter named: the entities with the column's name.
    init(position: Int, _ families: [Family], named: [Int64]) {
        self.position = position
        fitting = families.enumerated().map { ($0.offset, $0.element.members) }
        missing = Dictionary(named.map { ($0, 0) }) { first, _ in first }
    }

    /// The entities of which each value is a key.
    var entities: Set<Int64> { isOfKeys ? fitting.reduce(into: []) { $0.formUnion($1.members) } : [] }

    mutating func noteOther() {
        count += 1
        isOfKeys = false
    }

    /// - Returns: the number of look-ups.
    mutating func note(_ key: Int64, row: Int64, _ families: [Family]) -> Int {
        count += 1
        if samples.count < 3, !samples.contains(key) { samples.append(key) }
        forward &+= Self.hash(row, key)
        backward &+= Self.hash(key, row)
        if row != key { moved += 1 }
        let lookups = 1 + fitting.count + missing.count
        for index in fitting.indices.reversed() {
            guard let entity = families[fitting[index].family].keys.entity(of: key), fitting[index].members.contains(entity) else {
                fitting.remove(at: index)
                continue
            }
            if fitting[index].members.count > 1 { fitting[index].members = [entity] }
        }
        for entity in missing.keys {
            guard let family = families.first(where: { $0.members.contains(entity) }), family.keys.entity(of: key) != entity else { continue }
            let isPossible = key >= 1 && key <= family.keyMax, known = missing[entity] ?? 0
            missing[entity] = isPossible && known < .max ? known + 1 : .max
        }
        return lookups
    }

    private static func hash(_ a: Int64, _ b: Int64) -> UInt64 {
        var hash = UInt64(bitPattern: a) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: b) &* 0xC2B2_AE3D_27D4_EB4F
        hash = (hash ^ hash >> 31) &* 0xD6E8_FEB8_6659_FD93
        return hash ^ hash >> 32
    }
}

/// One pass over a table for the tallies of several columns.
final class TallyPass {
    private(set) var tallies: [KeyTally] = []
    /// The look-ups that are left.
    private(set) var lookups: Int
    private let families: [KeyTally.Family]

    init(_ families: [KeyTally.Family], lookups: Int) { (self.families, self.lookups) = (families, lookups) }

    func add(_ tally: KeyTally) { tallies.append(tally) }

    /// - Returns: false once no look-ups are left.
    func note(_ row: borrowing SQLiteRow) throws -> Bool {
        guard row.rowid > 0 else { return true }
        for index in tallies.indices {
            let position = tallies[index].position
            guard try !row.isNull(position) else { continue }
            if let key = try row.integer(position) {
                lookups -= tallies[index].note(key, row: row.rowid, families)
            } else {
                tallies[index].noteOther()
            }
        }
        return lookups > 0
    }
}
