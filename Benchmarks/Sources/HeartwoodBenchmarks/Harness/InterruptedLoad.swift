import Foundation

/// The opening of a store whose writer was killed at the end of a load, before it closed the store. A copy of the open files stands for it.
struct InterruptedLoad {
    let rows: Int
    let repetitions: Int
    let directory: URL

    static let name = "open after a kill in a load"

    func run(_ generator: PersonGenerator) throws -> [Measurement] {
        let pair: [any Peer.Type] = [RelaxedEnginePeer.self, NormalSQLitePeer.self]
        var times: [[Double]] = [[], []], memory = times
        for (index, type) in pair.enumerated() {
            let path = directory.appendingPathComponent("loaded-\(index)").path, copy = path + "-copy"
            defer { [path, copy].forEach(PeerFiles.remove) }
            let loading = try type.init(path: path, generator: generator)
            try loading.open()
            try loading.bulkInsert()
            for _ in 0..<repetitions {
                PeerFiles.remove(copy)
                for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: path + ending) {
                    try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
                }
                let peer = try type.init(path: copy, generator: generator)
                let before = ProcessFigures.privateMemory
                times[index].append(try Clock.seconds {
                    try peer.open()
                    _ = try peer.firstName()
                }.1)
                memory[index].append(Double(ProcessFigures.privateMemory) - Double(before))
                try peer.close()
            }
            try loading.close()
        }
        func measured(_ workload: String, _ unit: String, _ value: (Int) -> Double) -> [Measurement] {
            pair.indices.map { Measurement(workload: workload, rows: rows, peer: Runner.enginePeers[$0].name, value: value($0), unit: unit) }
        }
        return measured(Self.name, "ms") { Clock.median(times[$0]) * 1000 } + measured("memory of that opening", "MiB") { Clock.median(memory[$0]) / 1_048_576 }
    }
}
