import Foundation
import Glibc

/// Runs every query on every peer at one size, in alternating order, and checks that they find the same.
final class QueryRunner {
    private static let allPeers: [any QueryPeer.Type] = [HeartwoodQueries.self, SQLiteQueries.self, GRDBQueries.self]

    /// The peers whose names contain `name`; all peers for nil.
    static func peers(_ name: String?) -> [any QueryPeer.Type] {
        allPeers.filter { type in name.map { type.name.contains($0) } ?? true }
    }

    private let types: [any QueryPeer.Type]
    private let rows: Int
    private let repetitions: Int
    private let only: String?
    private let directory: URL
    private let generator: PersonGenerator
    private let packages: [PackageData]
    private var results: [Measurement] = []

    /// - Parameter packages: a file of JSON lines; without the file the query of the Debian graph is left out.
    init(_ types: [any QueryPeer.Type], rows: Int, repetitions: Int, only: String?, directory: URL, packages: String) throws {
        self.types = types
        self.rows = rows
        self.repetitions = repetitions
        self.only = only
        self.directory = directory.appendingPathComponent("queries-\(rows)")
        try FileManager.default.createDirectory(at: self.directory, withIntermediateDirectories: true)
        generator = PersonGenerator(count: rows)
        self.packages = try PackageData.load(packages)
    }

    private func note(_ name: String) { FileHandle.standardError.write(Data("  \(name)\n".utf8)) }

    func run() throws -> [Measurement] {
        defer { try? FileManager.default.removeItem(at: directory) }
        note("\(rows) persons, \(packages.count) packages")
        let peers = try types.map { try $0.init(directory: directory, generator: generator) }
        let phrases = Phrases.make(rows)
        if !types.contains(where: { $0 == SQLiteQueries.self }), types.contains(where: { $0 == GRDBQueries.self }) {
            // GRDB reads the file that the C API has made.
            try SQLiteQueries(directory: directory, generator: generator).fill(phrases: phrases, packages: packages)
        }
        for peer in peers { try peer.fill(phrases: phrases, packages: packages) }
        sync()
        try warm()
        for peer in peers { try peer.open() }
        try queries(peers)
        for peer in peers { try peer.close() }
        try batches()
        return results
    }

    /// Reads every peer's files, so that the system's cache has all of them: filling the next peer's store evicts some, and a page from the disk
    /// takes as long as hundreds of queries. The engine's own table shows the cost of a cold cache.
    private func warm() throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        for url in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
            let file = Glibc.open(url.path, O_RDONLY)
            guard file >= 0 else { continue }
            defer { close(file) }
            while read(file, buffer.baseAddress, buffer.count) > 0 {}
        }
    }

    private func queries(_ peers: [any QueryPeer]) throws {
        let sample = generator.sample(min(1000, rows / 2))
        let emails = sample.map { generator.person($0).email }, birthdays = sample.map { generator.person($0).birthday }
        try query("equality, unique string", "µs", peers, per: emails.count) { try $0.byEmail(emails) }
        try baseline("the runtime's part of an equality", "µs", per: emails.count) { PlainObjects.lookUp(emails) }
        try baseline("the runtime's part of all objects", "ms", per: 1) { PlainObjects.texts(rows) }
        try baseline("the runtime's part of values", "ms", per: 1) { PlainObjects.values(rows) }
        try baseline("the runtime's part of structures", "ms", per: 1) { try PlainDecoder.structures(rows) }
        try query("range of 100, sorted", "µs", peers, per: birthdays.count) { try $0.ranges(birthdays) }
        try baseline("the runtime's part of 100 objects", "µs", per: birthdays.count) {
            birthdays.reduce(0) { sum, _ in sum &+ PlainObjects.make(100) }
        }
        try countOnOneCore(peers)
        try query("count, number and CONTAINS, all cores", "ms", peers) { try $0.count() }
        // ASCII letters, so that LIKE finds the same.
        try query("CONTAINS[cd], many languages", "ms", peers) { try $0.phrases(with: "RIVER") }
        try query("lowest 100 by an unindexed number", "ms", peers) { try $0.lowestScores() }
        let titles = (0..<min(20, generator.groupCount)).map { "group \($0 * generator.groupCount / 20)" }
        try query("members by the group's title", "µs", peers, per: titles.count) { try $0.members(ofGroups: titles) }
        if !packages.isEmpty {
            let names = (0..<1000).map { packages[Int(PersonGenerator.mix($0) % UInt64(packages.count))].name } + ["libc6", "perl"]
            try query("Debian: ANY depends.name", "µs", peers, per: names.count) { try $0.dependents(ofPackages: names) }
        }
        try query("group by age, count and sum", "ms", peers) { try $0.scoresByAge() }
    }

    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    /// Runs a query on the peers in an order that rotates with the repetition.
    private func query(
        _ name: String, _ unit: String, _ peers: [any QueryPeer], per count: Int = 1, _ body: (any QueryPeer) throws -> UInt64?
    ) throws {
        guard wants(name) else { return }
        note(name)
        var times = [[Double]](repeating: [], count: peers.count)
        for repetition in 0..<repetitions {
            var seen: UInt64?
            for index in peers.indices.map({ ($0 + repetition) % peers.count }) {
                peers[index].forget()
                let (sum, seconds) = try Clock.seconds { try body(peers[index]) }
                guard let sum else { continue }
                times[index].append(seconds)
                if let seen, seen != sum { throw PeerError(description: "\(name): the peers do not agree") }
                seen = sum
            }
        }
        record(name, unit, times, per: count)
    }

    /// A baseline beside a query for as many objects; no peer takes part.
    private func baseline(_ name: String, _ unit: String, per count: Int, _ body: () throws -> Int) throws {
        guard wants(name), types.contains(where: { $0 == HeartwoodQueries.self }) else { return }
        note(name)
        var sums: Set<Int> = []
        let times = try (0..<max(3, repetitions)).map { _ in try Clock.seconds { sums.insert(try body()) }.1 }
        guard sums.count == 1 else { throw PeerError(description: "\(name): \(sums)") }
        record(name, unit, types.map { $0 == HeartwoodQueries.self ? times : [] }, per: count)
    }

    private func record(_ name: String, _ unit: String, _ times: [[Double]], per count: Int) {
        let scale = unit == "ms" ? 1e3 : 1e6
        for (index, type) in types.enumerated() {
            let value = times[index].isEmpty ? nil : Clock.median(times[index]) * scale / Double(count)
            results.append(Measurement(workload: name, rows: rows, peer: type.name, value: value, unit: unit))
        }
    }

    // MARK: One core

    static let oneCoreCommand = "--measure-count"

    /// Limits Heartwood's threads through the environment, in a process of its own.
    private func countOnOneCore(_ peers: [any QueryPeer]) throws {
        let name = "count, number and CONTAINS, one core"
        guard wants(name) else { return }
        note(name)
        let times = try zip(types, peers).map { type, peer in
            guard type == HeartwoodQueries.self else { return try timesOfCount(peer) }
            let numbers = try ChildProcess.numbers(
                from: [Self.oneCoreCommand, directory.path, "\(rows)", "\(repetitions)"], environment: ["HEARTWOOD_QUERY_CORES": "1"])
            guard numbers.count == repetitions else { throw PeerError(description: "the process on one core failed") }
            return numbers
        }
        record(name, "ms", times, per: 1)
    }

    /// Empty if the peer does not count.
    private func timesOfCount(_ peer: any QueryPeer) throws -> [Double] {
        try (0..<repetitions).compactMap { _ in
            let (count, seconds) = try Clock.seconds { try peer.count() }
            return count == nil ? nil : seconds
        }
    }

    /// The child's side.
    static func measureCount(_ arguments: [String]) throws {
        guard arguments.count == 3, let rows = Int(arguments[1]), let repetitions = Int(arguments[2]) else {
            throw PeerError(description: "wrong arguments for \(oneCoreCommand)")
        }
        let peer = try HeartwoodQueries(directory: URL(fileURLWithPath: arguments[0]), generator: PersonGenerator(count: rows))
        try peer.open()
        for _ in 0..<repetitions { print(try Clock.seconds { try peer.count() }.1) }
        try peer.close()
    }

    // MARK: Batches

    /// Each batch changes the data for the next one, so each is run once, over stores of its own.
    private func batches() throws {
        guard ["batch insert", "batch update", "batch delete"].contains(where: wants) else { return }
        note("batches")
        let empty = PersonGenerator(count: 0, groups: generator.groupCount)
        // Without groups: a batch's objects have no relationships.
        let people = (0..<rows).map { number in
            var person = generator.person(number)
            person.group = -1
            return person
        }
        var times = [[[Double]]](repeating: Array(repeating: [], count: types.count), count: 3)
        for (index, type) in types.enumerated() {
            let place = directory.appendingPathComponent("batch-\(index)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            let peer = try type.init(directory: place, generator: empty)
            if type == GRDBQueries.self { try SQLiteQueries(directory: place, generator: empty).fill(phrases: [], packages: []) }
            try peer.fill(phrases: [], packages: [])
            try peer.open()
            let work: [(any QueryPeer) throws -> UInt64?] = [{ try $0.batchInsert(people) }, { try $0.batchUpdate() }, { try $0.batchDelete() }]
            for (place, batch) in work.enumerated() {
                SuppliedMemory.settle(rows: rows)
                let (count, seconds) = try Clock.seconds { try batch(peer) }
                guard let count else { continue }
                guard count == rows else { throw PeerError(description: "\(type.name): a batch met \(count) of \(rows) rows") }
                times[place][index].append(seconds)
            }
            try peer.close()
            try FileManager.default.removeItem(at: place)
        }
        for (place, name) in ["batch insert", "batch update", "batch delete"].enumerated() {
            record("\(name) of \(rows)", "ms", times[place], per: 1)
        }
    }
}
