import Foundation

/// Archives all persons in one file, which each save writes completely and each opening reads completely.
class ArchivePeer {
    private let path: String
    private let generator: PersonGenerator
    private var people: [PersonData] = []

    required init(path: String, generator: PersonGenerator) throws {
        self.path = path
        self.generator = generator
    }

    func encode(_ people: [PersonData]) throws -> Data { Data() }
    func decode(_ data: Data) throws -> [PersonData] { [] }

    func open() throws {
        if let data = FileManager.default.contents(atPath: path) { people = try decode(data) }
    }

    func close() throws { people = [] }

    private func save() throws {
        let data = try encode(people)
        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    func bulkInsert() throws {
        people = (0..<generator.count).map(generator.person)
        try save()
    }

    func saveOne(_ number: Int) throws {
        people[number].score = Double(number)
        people[number].birthday = Double(number)
        try save()
    }

    func firstName() throws -> String { people.first?.name ?? "" }

    func readAll() throws -> UInt64? {
        var sum = Checksum()
        for person in people {
            sum.add(person.name)
            sum.add(person.age)
        }
        return sum.value
    }
}

final class JSONPeer: ArchivePeer, Peer {
    static let name = "JSONEncoder"

    override func encode(_ people: [PersonData]) throws -> Data { try JSONEncoder().encode(people) }
    override func decode(_ data: Data) throws -> [PersonData] { try JSONDecoder().decode([PersonData].self, from: data) }
}

final class PropertyListPeer: ArchivePeer, Peer {
    static let name = "PropertyListEncoder"

    override func encode(_ people: [PersonData]) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(people)
    }

    override func decode(_ data: Data) throws -> [PersonData] { try PropertyListDecoder().decode([PersonData].self, from: data) }
}
