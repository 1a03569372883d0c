/// The groups of commits that this store has decided and that another store may not have learned of yet: row 3 of the system table. Spec:
/// FORMAT.md, "Saves over several stores".
///
/// Being a row, it outlives checkpoints and compactions for as long as a store may ask.
struct CommitDecisions: Equatable {
    struct Decision: Equatable {
        let group: StoredUUID
        var participants: [StoredUUID]
    }

    static let row: UInt64 = 3
    private static let version: UInt8 = 1

    private(set) var list: [Decision] = []

    init() {}

    /// - Returns: nil if the bytes are not such a list.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard reader.integer(UInt8.self) == Self.version, let count = reader.count(of: StoredUUID.size + 4) else { return nil }
        for _ in 0..<count {
            guard let group = StoredUUID(&reader), let participants = reader.count(of: StoredUUID.size) else { return nil }
            var decision = Decision(group: group, participants: [])
            for _ in 0..<participants {
                guard let participant = StoredUUID(&reader) else { return nil }
                decision.participants.append(participant)
            }
            list.append(decision)
        }
    }

    init?(_ snapshot: Snapshot) throws(StoreError) {
        guard let bytes = try snapshot.unsafeSystemValue(Self.row) else {
            self.init()
            return
        }
        self.init(bytes)
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(UInt32(list.count))
        for decision in list {
            decision.group.append(to: &writer)
            writer.append(UInt32(decision.participants.count))
            for participant in decision.participants { participant.append(to: &writer) }
        }
        return writer.bytes
    }

    func contains(_ group: StoredUUID) -> Bool { list.contains { $0.group == group } }

    /// Adds a group, and removes the groups about which no store asks any more.
    /// - Parameters:
    ///   - participants: the stores of the new group beside this one. The save has their locks, so none of them waits for an older decision.
    ///   - settled: a group whose decision every participant has.
    mutating func decide(_ group: StoredUUID, _ participants: [StoredUUID], settled: StoredUUID?) {
        for index in list.indices { list[index].participants.removeAll(where: participants.contains) }
        list.removeAll { $0.participants.isEmpty || $0.group == settled }
        list.append(Decision(group: group, participants: participants))
    }
}
