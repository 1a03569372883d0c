import Foundation

/// Compares the engine with SQLite under special conditions: no sync at a commit, indexes made after the load, keys that share long prefixes, a
/// cold page cache, a writer beside readers.
struct EngineExtras {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    private func measurement(_ workload: String, _ peer: any Peer.Type, _ value: Double, _ unit: String) -> Measurement {
        Measurement(workload: workload, rows: rows, peer: peer.name, value: value, unit: unit)
    }

    /// Measures each pair of peers, each peer in a filled store of its own; `measure` gives a figure for each.
    private func compare(
        _ name: String, _ unit: String, _ pair: [any Peer.Type], _ generator: PersonGenerator, fills: Bool = true,
        keepsOpen: Bool = true, _ measure: (_ peer: any Peer, _ path: String) throws -> Double
    ) throws -> [Measurement] {
        guard wants(name) else { return [] }
        FileHandle.standardError.write(Data("  \(name)\n".utf8))
        var figures = [[Double]](repeating: [], count: pair.count)
        let paths = pair.indices.map { directory.appendingPathComponent("extra-\($0)").path }
        let peers = try pair.indices.map { try pair[$0].init(path: paths[$0], generator: generator) }
        defer { paths.forEach(PeerFiles.remove) }
        if fills {
            for peer in peers {
                try peer.open()
                try peer.bulkInsert()
                try peer.close()
            }
        }
        for repetition in 0..<repetitions {
            for index in peers.indices.map({ ($0 + repetition) % peers.count }) {
                if !fills { PeerFiles.remove(paths[index]) }
                if keepsOpen, !fills || repetition == 0 { try peers[index].open() }
                figures[index].append(try measure(peers[index], paths[index]))
                if !keepsOpen || !fills || repetition == repetitions - 1 { try peers[index].close() }
            }
        }
        return pair.indices.map { measurement(name, Runner.enginePeers[$0], Clock.median(figures[$0]), unit) }
    }

    func run() throws -> [Measurement] {
        let plain = PersonGenerator(count: rows, isMadeBeforehand: true)
        let long = PersonGenerator(count: rows, emailPrefix: "https://packages.example.org/archive/main/people/by-name/")
        let sample = plain.sample(min(10_000, rows / 2)).map { long.person($0).email }
        let numbers = plain.sample(min(2000, rows / 4))
        return try compare("bulk insert, SQLite indexed after it", "s", [EnginePeer.self, LateIndexSQLitePeer.self], plain, fills: false) { peer, _ in
            try Clock.seconds { try peer.bulkInsert() }.1
        } + compare("one row, not synced", "µs", [RelaxedEnginePeer.self, NormalSQLitePeer.self], plain) { peer, _ in
            try Clock.seconds { for number in numbers { try peer.saveOne(number) } }.1 * 1e6 / Double(numbers.count)
        } + compare("by unique string, long prefixes", "µs", [EnginePeer.self, BytesSQLitePeer.self], long) { peer, _ in
            try Clock.seconds { _ = try peer.byEmail(sample) }.1 * 1e6 / Double(sample.count)
        } + floor() + calls() + cold(plain) + amplification(plain) + interrupted(plain) + mixed(plain)
    }

    /// A lower bound of a durable save: the bytes that each engine writes for one, written and synced by bare system calls.
    private func floor() throws -> [Measurement] {
        let name = "the disk's part of a durable save"
        guard wants(name) else { return [] }
        FileHandle.standardError.write(Data("  \(name)\n".utf8))
        var times = [[Double]](repeating: [], count: 2)
        let paths = times.indices.map { directory.appendingPathComponent("floor-\($0)").path }
        defer { paths.forEach(PeerFiles.remove) }
        let files = try paths.map { try WrittenAhead($0, byteCount: 16 << 20) }
        for round in 0..<500 {
            for index in files.indices.map({ ($0 + round) % 2 }) {
                times[index].append(try Clock.seconds { try files[index].append(index == 0 ? 200 : 18_000) }.1)
            }
        }
        return times.indices.map { measurement("\(name), median", Runner.enginePeers[$0], Clock.median(times[$0]) * 1e6, "µs") }
            + times.indices.map { measurement("\(name), 99th", Runner.enginePeers[$0], Clock.percentile99(times[$0]) * 1e6, "µs") }
    }

    /// A lower bound of a save without a sync: the system calls by which Heartwood's writers share a file.
    private func calls() throws -> [Measurement] {
        let name = "the system's part of a row not synced"
        guard wants(name) else { return [] }
        FileHandle.standardError.write(Data("  \(name)\n".utf8))
        let path = directory.appendingPathComponent("locked").path
        defer { PeerFiles.remove(path) }
        let file = try LockedFile(path), count = 2000
        let times = try (0..<repetitions).map { _ in try Clock.seconds { for _ in 0..<count { try file.ask() } }.1 * 1e6 / Double(count) }
        return [measurement(name, Runner.enginePeers[0], Clock.median(times), "µs")]
    }

    /// Reads rows spread over a store of which the system caches nothing; this measures mainly the disk.
    private func cold(_ generator: PersonGenerator) throws -> [Measurement] {
        let numbers = generator.sample(min(500, rows / 4)), birthdays = generator.sample(5).map { generator.person($0).birthday }
        let workloads: [(name: String, body: (any Peer) throws -> UInt64?)] = [
            ("open and 500 rows, cold page cache", { try $0.pointByID(numbers) }),
            ("open and 5 ranges of 100, cold page cache", { try $0.ranges(birthdays) }),
            ("open and scan, cold page cache", { try $0.scan() }),
        ]
        let pair: [any Peer.Type] = [EnginePeer.self, BytesSQLitePeer.self]
        return try workloads.flatMap { name, body in
            try compare(name, "ms", pair, generator, keepsOpen: false) { peer, path in
                PeerFiles.forget(path)
                return try Clock.seconds {
                    try peer.open()
                    _ = try body(peer)
                }.1 * 1000
            }
        }
    }

    private func amplification(_ generator: PersonGenerator) throws -> [Measurement] {
        guard wants(WriteAmplification.name) else { return [] }
        FileHandle.standardError.write(Data("  \(WriteAmplification.name)\n".utf8))
        return try WriteAmplification(rows: rows, directory: directory).run(generator)
    }

    private func interrupted(_ generator: PersonGenerator) throws -> [Measurement] {
        guard wants(InterruptedLoad.name) else { return [] }
        FileHandle.standardError.write(Data("  \(InterruptedLoad.name)\n".utf8))
        return try InterruptedLoad(rows: rows, repetitions: repetitions, directory: directory).run(generator)
    }

    /// One writer, which waits for the disk at each save, beside two readers, each with a handle and a thread of its own.
    private func mixed(_ generator: PersonGenerator) throws -> [Measurement] {
        let pair: [any Peer.Type] = [EnginePeer.self, BytesSQLitePeer.self]
        var saves: [Double] = []
        let reads = try compare("row read beside one writer and another reader", "µs", pair, generator) { peer, path in
            let run = try MixedRun(type(of: peer), path: path, generator: generator).run(peer)
            saves.append(run.save)
            return run.read
        }
        guard !reads.isEmpty else { return [] }
        return reads + pair.indices.map { index in
            // The order rotates with the repetition, as in `compare`.
            let own = (0..<repetitions).map { repetition in saves[repetition * pair.count + (index + repetition * (pair.count - 1)) % pair.count] }
            return measurement("save beside two readers", Runner.enginePeers[index], Clock.median(own), "µs")
        }
    }
}
