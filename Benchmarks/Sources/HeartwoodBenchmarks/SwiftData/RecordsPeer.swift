import GRDB

/// GRDB's Codable records, over the settings of `GRDBPeer`.
final class RecordsPeer: ModelPeer {
    static let name = "GRDB records"

    private let peer: GRDBPeer
    private var held: [GRDBPeer.Person] = []

    init(path: String, generator: PersonGenerator) throws { peer = try GRDBPeer(path: path, generator: generator) }

    func open() throws { try peer.open() }

    func close() throws {
        held = []
        try peer.close()
    }

    func insertAll() throws { try peer.bulkInsert() }
    func firstName() throws -> String { try peer.firstName() }
    func enumerate() throws -> UInt64 { try peer.readAll() ?? 0 }

    func fetch(bornIn birthdays: Range<Double>, reads: Bool) throws -> UInt64 {
        let birthday = Column("birthday")
        let people = try peer.database().read { database in
            try GRDBPeer.Person.filter(birthday >= birthdays.lowerBound && birthday < birthdays.upperBound).fetchAll(database)
        }
        guard reads else { return UInt64(people.count) }
        var sum = Checksum()
        for person in people { sum.add(person.age) }
        return sum.value
    }

    func hold(_ count: Int) throws {
        held = try peer.database().read { try GRDBPeer.Person.limit(count).fetchAll($0) }
    }

    func change(to score: Double) throws {
        for index in held.indices { held[index].score = score }
        let people = held
        try peer.database().write { database in
            for person in people { try person.update(database) }
        }
    }
}
