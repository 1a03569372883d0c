import Foundation

/// Measures SwiftData's models beside managed objects and GRDB's records.
struct ModelRunner {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    private static let types: [any ModelPeer.Type] = [SwiftDataPeer.self, ObjectsPeer.self, RecordsPeer.self]
    static var names: [String] { types.map { $0.name } }

    private var generator: PersonGenerator { PersonGenerator(count: rows) }

    func run() throws -> [Measurement] {
        note("\(rows) models")
        defer { for type in Self.types { PeerFiles.remove(path(of: type)) } }
        let inserted = try insertions()
        return try inserted + ModelReads(rows: rows, only: only).run() + opens() + fetches() + enumerations() + changes()
    }

    private func path(of type: any ModelPeer.Type) -> String {
        directory.appendingPathComponent("model-\(type.name.split(separator: " ")[0])-\(rows)").path
    }

    private func note(_ text: String) { FileHandle.standardError.write(Data("  \(text)\n".utf8)) }
    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    private func medians(_ workload: String, _ values: [[Double]], _ scale: Double, _ unit: String) -> [Measurement] {
        zip(Self.types, values).map { type, own in
            Measurement(workload: workload, rows: rows, peer: type.name, value: Clock.median(own) * scale, unit: unit)
        }
    }

    /// Runs a measurement on each peer, in an order that turns with the repetition.
    private func turns(_ count: Int, _ body: (any ModelPeer.Type) throws -> [Double]) throws -> [[Double]] {
        var values = [[Double]](repeating: [], count: Self.types.count)
        for repetition in 0..<count {
            for index in Self.types.indices.map({ ($0 + repetition) % Self.types.count }) { values[index] += try body(Self.types[index]) }
        }
        return values
    }

    /// Opens a peer's store anew for one repetition.
    private func opened<Result>(_ type: any ModelPeer.Type, _ body: (any ModelPeer) throws -> Result) throws -> Result {
        let peer = try type.init(path: path(of: type), generator: generator)
        try peer.open()
        let result = try body(peer)
        try peer.close()
        return result
    }

    // MARK: Workloads

    /// The stores stay for the workloads after it.
    private func insertions() throws -> [Measurement] {
        let name = "insert and save"
        note(name)
        let times = try turns(wants(name) && rows < 1_000_000 ? repetitions : 1) { type in
            PeerFiles.remove(path(of: type))
            SuppliedMemory.settle(rows: rows)
            return try opened(type) { peer in [try Clock.seconds { try peer.insertAll() }.1] }
        }
        // Otherwise the system would write the stores' dirty pages during the next measurement.
        sync()
        return wants(name) ? medians(name, times, 1, "s") : []
    }

    private func opens() throws -> [Measurement] {
        let name = "open a container and the first name"
        guard wants(name) else { return [] }
        note(name)
        let times = try turns(max(7, repetitions)) { type in [try Self.child(.open, type, path(of: type), rows)[0]] }
        return medians(name, times, 1e3, "ms")
    }

    private static let found = 1000

    private func fetches() throws -> [Measurement] {
        let names = ["fetch of 1,000 by predicate", "fetch of 1,000, a property of each read"]
        guard names.contains(where: wants) else { return [] }
        let birthdays = (0..<rows).map { generator.person($0).birthday }.sorted()
        let starts = Array(stride(from: 0, to: rows - Self.found, by: Self.found).prefix(100))
        return try names.enumerated().filter { wants($1) }.flatMap { place, name in
            note(name)
            var sums: Set<UInt64> = []
            let times = try turns(repetitions) { type in
                try opened(type) { peer in
                    let (sum, seconds) = try Clock.seconds {
                        try starts.reduce(UInt64(0)) { sum, start in
                            try sum &+ peer.fetch(bornIn: birthdays[start]..<birthdays[start + Self.found], reads: place == 1)
                        }
                    }
                    sums.insert(sum)
                    return [seconds / Double(starts.count)]
                }
            }
            guard sums.count == 1 else { throw PeerError(description: "\(name): the peers do not agree") }
            return medians(name, times, 1e6, "µs")
        }
    }

    /// In a process of its own each time, whose private memory is looked at meanwhile.
    private func enumerations() throws -> [Measurement] {
        let name = "enumerate all"
        guard wants(name) else { return [] }
        note(name)
        var sums: Set<Double> = []
        let times = try turns(repetitions) { type in
            let numbers = try Self.child(.enumerate, type, path(of: type), rows)
            guard numbers.count == 3 else { throw PeerError(description: "\(type.name): the enumerating process failed") }
            sums.insert(numbers[2])
            return [numbers[0], numbers[1]]
        }
        guard sums.count == 1 else { throw PeerError(description: "\(name): the peers do not agree") }
        func every(_ place: Int) -> [[Double]] { times.map { own in stride(from: place, to: own.count, by: 2).map { own[$0] } } }
        return medians(name, every(0), 1e3, "ms") + medians("\(name), memory", every(1), 1 / 1_048_576, "MiB")
    }

    private func changes() throws -> [Measurement] {
        let count = min(10_000, rows), name = "save of \(count) changes"
        guard wants(name) else { return [] }
        note(name)
        var score = 0.5
        let times = try turns(max(3, repetitions)) { type in
            SuppliedMemory.settle(rows: count)
            score += 1
            return try opened(type) { peer in
                try peer.hold(count)
                return [try Clock.seconds { try peer.change(to: score) }.1]
            }
        }
        return medians(name, times, 1e3, "ms")
    }

    // MARK: Processes

    static let command = "--measure-models"

    private enum Work: String { case open, enumerate }

    private static func child(_ work: Work, _ type: any ModelPeer.Type, _ path: String, _ rows: Int) throws -> [Double] {
        let numbers = try ChildProcess.numbers(from: [command, work.rawValue, type.name, path, "\(rows)"])
        guard !numbers.isEmpty else { throw PeerError(description: "\(type.name): the process of \(work) failed") }
        return numbers
    }

    /// The child's side.
    static func measure(_ arguments: [String]) throws {
        guard arguments.count == 4, let work = Work(rawValue: arguments[0]), let type = types.first(where: { $0.name == arguments[1] }),
            let rows = Int(arguments[3])
        else { throw PeerError(description: "wrong arguments for \(command)") }
        let peer = try type.init(path: arguments[2], generator: PersonGenerator(count: rows))
        switch work {
        case .open:
            let (name, seconds) = try Clock.seconds {
                try peer.open()
                return try peer.firstName()
            }
            guard !name.isEmpty else { throw PeerError(description: "the first person has no name") }
            print(seconds)
        case .enumerate:
            try peer.open()
            _ = try peer.firstName()
            let before = ProcessFigures.privateMemory, peak = PeakMemory()
            let (sum, seconds) = try Clock.seconds { try peer.enumerate() }
            print(seconds, peak.end() - min(before, peak.end()), sum % (1 << 40))
        }
    }
}
