import Foundation
import Glibc

/// Measures opening a container on a store, in a fresh process with its model loaded, up to the first object's name.
struct ContainerExtras {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    func run() throws -> [Measurement] {
        guard only.map({ "open a container".contains($0) }) ?? true else { return [] }
        FileHandle.standardError.write(Data("  open a container\n".utf8))
        let path = directory.appendingPathComponent("container").path
        defer { PeerFiles.remove(path) }
        let maker = try HeartwoodPeer(path: path, generator: PersonGenerator(count: rows))
        try maker.open()
        try maker.bulkInsert()
        try maker.close()
        // Otherwise the system would write the load's dirty pages during the measurement.
        sync()
        let figures = try (0..<max(5, repetitions)).map { _ in try ChildProcess.open(ContainerPeer.self, path: path, rows: rows) }
        return [
            Measurement(
                workload: "open a container", rows: rows, peer: HeartwoodPeer.name,
                value: Clock.median(figures.map(\.seconds)) * 1000, unit: "ms"),
            Measurement(
                workload: "open a container, memory", rows: rows, peer: HeartwoodPeer.name,
                value: Clock.median(figures.map(\.bytes)) / 1_048_576, unit: "MiB"),
        ]
    }
}
