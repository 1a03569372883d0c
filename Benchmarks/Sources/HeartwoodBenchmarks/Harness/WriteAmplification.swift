import Foundation

/// The bytes that a load and steady small saves hand to write calls, checkpoints, scratch files and compactions included, and the size of the
/// file after them. Nothing waits for the disk at a commit, so that the saves are many.
struct WriteAmplification {
    let rows: Int
    let directory: URL

    static let name = "written in all"

    /// So many persons are changed, one in each save, in an order without a pattern.
    private var saves: Int { rows / 5 }

    func run(_ generator: PersonGenerator) throws -> [Measurement] {
        let pair: [any Peer.Type] = [RelaxedEnginePeer.self, NormalSQLitePeer.self]
        var found: [Measurement] = []
        for (index, type) in pair.enumerated() {
            let path = directory.appendingPathComponent("amplification-\(index)").path
            defer { PeerFiles.remove(path) }
            let peer = try type.init(path: path, generator: generator)
            func record(_ what: String, _ value: Double, _ unit: String) {
                found.append(Measurement(workload: what, rows: rows, peer: Runner.enginePeers[index].name, value: value, unit: unit))
            }
            let load = try written(peer) { try peer.bulkInsert() }
            record("\(Self.name) for a person of a load", Double(load) / Double(rows), "B")
            let steady = try written(peer) {
                for number in 0..<saves { try peer.saveOne(Int(truncatingIfNeeded: UInt64(number) &* 2_654_435_761 % UInt64(rows))) }
            }
            record("\(Self.name) for one of steady saves", Double(steady) / Double(saves), "B")
            record("file size after steady saves", Double(PeerFiles.size(path)) / 1_048_576, "MiB")
        }
        // The peers' figures of one workload stand together.
        return (0..<3).flatMap { [found[$0], found[$0 + 3]] }
    }

    private func written(_ peer: any Peer, _ body: () throws -> Void) throws -> UInt64 {
        try peer.open()
        let before = ProcessFigures.bytesWritten
        try body()
        try peer.close()
        return ProcessFigures.bytesWritten - before
    }
}
