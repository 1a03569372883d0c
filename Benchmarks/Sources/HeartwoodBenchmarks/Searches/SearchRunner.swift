import Foundation

/// Compares text search with LIKE and with FTS5. Fails where two peers find different notes.
struct SearchRunner {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    static let names = [HeartwoodSearch.name, LikeSearch.name, FTSSearch.name, GRDBSearch.name]

    private static let limit = 20

    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    private func figure(_ workload: String, _ peer: String, _ value: Double, _ unit: String) -> Measurement {
        FileHandle.standardError.write(Data("  \(workload), \(peer): \(value) \(unit)\n".utf8))
        return Measurement(workload: workload, rows: rows, peer: peer, value: value, unit: unit)
    }

    private func path(_ type: any SearchPeer.Type) -> String { directory.appendingPathComponent("\(type)").path }

    private func load(_ type: any SearchPeer.Type, _ notes: NoteGenerator) throws -> (peer: any SearchPeer, seconds: Double) {
        SuppliedMemory.settle(rows: rows)
        PeerFiles.remove(path(type))
        let peer = try type.init(path: path(type), notes: notes)
        return (peer, try Clock.seconds { try peer.bulkInsert() }.1)
    }

    func run() throws -> [Measurement] {
        FileHandle.standardError.write(Data("\(rows) notes\n".utf8))
        let notes = NoteGenerator(count: rows)
        let types: [any SearchPeer.Type] = [HeartwoodSearch.self, LikeSearch.self, FTSSearch.self]
        defer { for type in types + [TrigramLoad.self] { PeerFiles.remove(path(type)) } }
        var results: [Measurement] = []
        var peers: [any SearchPeer] = []
        for type in types {
            let (peer, seconds) = try load(type, notes)
            peers.append(peer)
            // FTS5's figure is that of its trigram index alone.
            if type != FTSSearch.self { results.append(figure("bulk insertion", type.name, seconds, "s")) }
        }
        let (trigrams, seconds) = try load(TrigramLoad.self, notes)
        try trigrams.close()
        PeerFiles.remove(path(TrigramLoad.self))
        results.append(figure("bulk insertion", TrigramLoad.name, seconds, "s"))
        for peer in peers {
            if let bytes = try peer.indexBytes() {
                results.append(figure("bytes of the index", type(of: peer).name, Double(bytes) / 1_048_576, "MiB"))
            }
        }
        results += try searches(peers, notes)
        for peer in peers { try peer.close() }
        return results
    }

    private func searches(_ peers: [any SearchPeer], _ notes: NoteGenerator) throws -> [Measurement] {
        // Five letters from the middle of rare words, parts of frequent words, the starts of words, and frequent words beside rarer ones.
        let few = (0..<40).map { String(notes.word(20_000 + $0 * 437).dropFirst().prefix(5)) }.filter { $0.utf8.count == 5 && notes.isPlain($0) }
        let many = (0..<60).map(notes.word).filter { $0.utf8.count >= 3 && notes.isPlain($0) }.prefix(6)
        let typed = (0..<90).map { notes.word(600 + $0 * 411) }.filter { word in
            word.utf8.count >= 8 && (1...8).allSatisfy { notes.isPlain(String(word.prefix($0)), atStart: true) }
        }.prefix(6)
        let plain = (0..<300).map(notes.word).filter { $0.utf8.count > 1 && notes.isPlain($0) }
        let pairs = (0..<10).map { "\(plain[$0 * 2 % plain.count]) \(plain[(30 + $0 * 7) % plain.count])" }
        var results: [Measurement] = []
        func compare(_ name: String, _ count: Int, _ body: (any SearchPeer) throws -> Checksum?) throws {
            guard wants(name) else { return }
            var times = [[Double]](repeating: [], count: peers.count), sums = [UInt64?](repeating: nil, count: peers.count)
            for repetition in 0..<repetitions {
                for index in peers.indices.map({ ($0 + repetition) % peers.count }) {
                    let (sum, seconds) = try Clock.seconds { try body(peers[index]) }
                    guard let sum else { continue }
                    sums[index] = sum.value
                    times[index].append(seconds)
                }
            }
            let known = sums.compactMap(\.self)
            guard Set(known).count < 2 else { throw PeerError(description: "\(name): the peers find different notes: \(sums)") }
            for index in peers.indices where !times[index].isEmpty {
                results.append(figure(name, type(of: peers[index]).name, Clock.median(times[index]) * 1e6 / Double(count), "µs"))
            }
        }
        func all(_ patterns: [String], _ body: (String) throws -> Checksum?) throws -> Checksum? {
            var sum = Checksum()
            for pattern in patterns {
                guard let part = try body(pattern) else { return nil }
                sum.add(Int(truncatingIfNeeded: part.value))
            }
            return sum
        }
        try compare("contains 5 letters, few matches", few.count) { peer in try all(few) { try peer.containing($0) } }
        try compare("contains, many matches, first 20 by name", many.count) { peer in
            try all(Array(many)) { try peer.firstByName($0, Self.limit) }
        }
        let keys = typed.flatMap { word in (1...min(8, word.count)).map { String(word.prefix($0)) } }
        try compare("key strokes, first 20", keys.count) { peer in try all(keys) { try peer.typed($0, Self.limit) } }
        guard wants("ranked, two words, first 20") else { return results }
        for pair in pairs {
            let counts = try peers.compactMap { try $0.count(pair) }
            guard Set(counts).count < 2 else { throw PeerError(description: "\"\(pair)\": the peers find \(counts) notes") }
        }
        let grdb = try GRDBSearch(path: path(FTSSearch.self))
        try compare("ranked, two words, first 20", pairs.count) { peer in
            var sum = Checksum()
            for pair in pairs {
                guard let count = try peer.ranked(pair, Self.limit) else { return nil }
                sum.add(count)
            }
            return sum
        }
        let times = try (0..<repetitions).map { _ in
            try Clock.seconds { for pair in pairs { _ = try grdb.ranked(pair, Self.limit) } }.1
        }
        results.append(figure("ranked, two words, first 20", GRDBSearch.name, Clock.median(times) * 1e6 / Double(pairs.count), "µs"))
        return results
    }
}
