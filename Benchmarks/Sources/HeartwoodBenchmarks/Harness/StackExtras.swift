import Foundation
import Glibc

/// Measures inserting and saving one object at a time, with and without waiting for the disk.
struct StackExtras {
    let rows: Int
    let only: String?
    let directory: URL

    private static let durable: [any Peer.Type] = [HeartwoodPeer.self, SQLitePeer.self, GRDBPeer.self]
    private static let relaxed: [any Peer.Type] = [RelaxedHeartwoodPeer.self, NormalSQLitePeer.self, NormalGRDBPeer.self]

    func run() throws -> [Measurement] {
        guard only.map({ "insert one".contains($0) }) ?? true else { return [] }
        FileHandle.standardError.write(Data("  insert one\n".utf8))
        let generator = PersonGenerator(count: rows)
        let paths = Self.durable.indices.map { directory.appendingPathComponent("insert-\($0)").path }
        defer { paths.forEach(PeerFiles.remove) }
        for (index, type) in Self.durable.enumerated() {
            let peer = try type.init(path: paths[index], generator: generator)
            try peer.open()
            try peer.bulkInsert()
            try peer.close()
        }
        // Otherwise the system would write the loads' dirty pages during the first measurement.
        sync()
        let durable = try insert(Self.durable, paths, generator, from: rows, count: 500)
        let relaxed = try insert(Self.relaxed, paths, generator, from: rows + 500, count: 5000)
        return Self.durable.enumerated().flatMap { index, type in
            [
                Measurement(workload: "insert one, median", rows: rows, peer: type.name, value: Clock.median(durable[index]) * 1e6, unit: "µs"),
                Measurement(workload: "insert one, 99th", rows: rows, peer: type.name, value: Clock.percentile99(durable[index]) * 1e6, unit: "µs"),
                Measurement(workload: "insert one, not synced", rows: rows, peer: type.name, value: Clock.median(relaxed[index]) * 1e6, unit: "µs"),
            ]
        }
    }

    private static let rounds = 10

    /// Alternates between the peers, so that the machine is equally busy for each.
    private func insert(
        _ types: [any Peer.Type], _ paths: [String], _ generator: PersonGenerator, from first: Int, count: Int
    ) throws -> [[Double]] {
        let peers = try types.indices.map { try types[$0].init(path: paths[$0], generator: generator) }
        let people = (first..<first + count).map(generator.person)
        var times = [[Double]](repeating: [], count: peers.count)
        for peer in peers { try peer.open() }
        for round in 0..<Self.rounds {
            for index in peers.indices.map({ ($0 + round) % peers.count }) {
                for person in people[count * round / Self.rounds..<count * (round + 1) / Self.rounds] {
                    times[index].append(try Clock.seconds { try peers[index].insertOne(person) }.1)
                }
            }
        }
        for peer in peers { try peer.close() }
        return times
    }
}
