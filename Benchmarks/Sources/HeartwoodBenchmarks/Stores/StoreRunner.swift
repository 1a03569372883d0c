import CSQLite
import Foundation
import Heartwood

/// Measures Core Data's own file: read in place beside SQLite's C API on the same file, and converted beside an insertion of the same persons
/// by batch.
struct StoreRunner {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    static let names = [HeartwoodPeer.name, SQLitePeer.name]

    private var file: URL { directory.appendingPathComponent("App.sqlite") }

    func run() throws -> [Measurement] {
        let generator = PersonGenerator(count: rows)
        FileHandle.standardError.write(Data("\(rows) persons in Core Data's layout\n".utf8))
        try CoreDataFile.make(at: file.path, generator)
        defer { PeerFiles.remove(file.path) }
        sync()
        return try conversions(generator) + opens() + reads(generator)
    }

    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    private func figure(_ workload: String, _ peer: String, _ value: Double, _ unit: String) -> Measurement {
        FileHandle.standardError.write(Data("  \(workload), \(peer): \(value) \(unit)\n".utf8))
        return Measurement(workload: workload, rows: rows, peer: peer, value: value, unit: unit)
    }

    // MARK: Conversion

    /// Each repetition converts to a new file, and inserts into a new file; memory is the child's, which converts and does nothing else.
    private func conversions(_ generator: PersonGenerator) throws -> [Measurement] {
        guard wants("convert") else { return [] }
        var converted: [Double] = [], memory: [Double] = [], inserted: [Double] = []
        let target = directory.appendingPathComponent("converted.heartwood")
        for _ in 0..<repetitions {
            SuppliedMemory.settle(rows: rows)
            let numbers = try ChildProcess.numbers(from: [Self.convertCommand, file.path, target.path])
            guard numbers.count == 2 else { throw PeerError(description: "the converting process failed") }
            converted.append(numbers[0])
            memory.append(numbers[1] / 1_048_576)
            PeerFiles.remove(target.path)
            SuppliedMemory.settle(rows: rows)
            inserted.append(try batch(generator))
        }
        return [
            figure("convert", Self.names[0], Clock.median(converted), "s"),
            figure("insert the same by batch", Self.names[0], Clock.median(inserted), "s"),
            figure("convert, memory", Self.names[0], Clock.median(memory), "MiB"),
        ]
    }

    /// - Returns: seconds, from an open store with groups to the saved persons.
    private func batch(_ generator: PersonGenerator) throws -> Double {
        let path = directory.appendingPathComponent("batch.heartwood").path
        defer { PeerFiles.remove(path) }
        let peer = try HeartwoodPeer(path: path, generator: PersonGenerator(count: 0, groups: generator.groupCount))
        try peer.open()
        try peer.bulkInsert()
        var next = 0
        let request = NSBatchInsertRequest(entityName: "Person", managedObjectHandler: { object in
            guard next < generator.count, let person = object as? ManagedPerson else { return true }
            let data = generator.person(next)
            next += 1
            (person.name, person.email, person.age) = (data.name, data.email, data.age)
            (person.score, person.birthday, person.note) = (data.score, data.birthday, data.note)
            return false
        })
        request.resultType = .count
        let seconds = try Clock.seconds { _ = try peer.context.execute(request) }.1
        try peer.close()
        return seconds
    }

    static let convertCommand = "--measure-conversion"

    /// The child's side.
    static func measureConversion(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw PeerError(description: "wrong arguments for \(convertCommand)") }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: HeartwoodPeer.model())
        let before = ProcessFigures.privateMemory, peak = PeakMemory()
        let seconds = try Clock.seconds {
            let store = try coordinator.addPersistentStore(
                type: .sqlite, configuration: nil, at: URL(fileURLWithPath: arguments[0]), options: [NSReadOnlyPersistentStoreOption: true])
            let new = try coordinator.migratePersistentStore(store, to: URL(fileURLWithPath: arguments[1]), type: .recordLog)
            try coordinator.remove(new)
        }.1
        print(seconds, peak.end() - min(before, peak.end()))
    }

    // MARK: Reading in place

    private func opens() throws -> [Measurement] {
        let name = "open and first object"
        guard wants(name) else { return [] }
        let types: [any Peer.Type] = [InPlacePeer.self, CoreDataSQLitePeer.self]
        let times = try types.map { type in
            Clock.median(try (0..<9).map { _ in try ChildProcess.open(type, path: file.path, rows: rows).seconds * 1e3 })
        }
        return zip(Self.names, times).map { figure(name, $0, $1, "ms") }
    }

    private func reads(_ generator: PersonGenerator) throws -> [Measurement] {
        let sample = generator.sample(min(10_000, rows / 2))
        let works: [(name: String, unit: String, count: Int, body: (any StorePeer) throws -> UInt64)] = [
            ("fetch of 100 by key", "µs", sample.count / 100, { try $0.byKeys(sample) }),
            ("unindexed scan, counted", "ms", 1, { try $0.scan() ?? 0 }),
            ("all objects, two attributes", "ms", 1, { try $0.readAll() ?? 0 }),
            ("range of 100, sorted", "µs", 100, { try $0.ranges(sample.prefix(100).map { generator.person($0).birthday }) ?? 0 }),
        ]
        return try works.filter { wants($0.name) }.flatMap { work in
            let peers: [any StorePeer] = [
                try InPlacePeer(path: file.path, generator: generator), try CoreDataSQLitePeer(path: file.path, generator: generator),
            ]
            for peer in peers { try peer.open() }
            // A program has the IDs of its objects, as it has numbers for SQLite.
            for case let peer as InPlacePeer in peers { try peer.prepareIDs(sample) }
            defer { for peer in peers { try? peer.close() } }
            var times = [[Double]](repeating: [], count: peers.count)
            for repetition in 0..<repetitions {
                var sums: Set<UInt64> = []
                for index in peers.indices.map({ ($0 + repetition) % peers.count }) {
                    let (sum, seconds) = try Clock.seconds { try work.body(peers[index]) }
                    times[index].append(seconds)
                    sums.insert(sum)
                }
                guard sums.count == 1 else { throw PeerError(description: "\(work.name): the peers do not agree") }
            }
            let scale = (work.unit == "ms" ? 1e3 : 1e6) / Double(work.count)
            return zip(Self.names, times).map { figure(work.name, $0, Clock.median($1) * scale, work.unit) }
        }
    }
}
