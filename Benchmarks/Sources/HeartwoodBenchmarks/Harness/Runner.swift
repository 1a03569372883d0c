import Foundation
import Glibc

/// Runs every workload on every peer, in alternating order, and checks that they read the same.
final class Runner {
    private let options: Options
    private let directory: URL
    private(set) var measurements: [Measurement] = []

    static var stackPeers: [any Peer.Type] { [HeartwoodPeer.self, SQLitePeer.self, GRDBPeer.self, JSONPeer.self, PropertyListPeer.self] }
    static var enginePeers: [any Peer.Type] { [EnginePeer.self, BytesSQLitePeer.self] }

    var peers: [any Peer.Type] {
        (options.isEngine ? Self.enginePeers : Self.stackPeers).filter { type in options.peer.map { type.name.contains($0) } ?? true }
    }

    init(_ options: Options) throws {
        self.options = options
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    private func path(_ peer: any Peer.Type, _ rows: Int) -> String {
        directory.appendingPathComponent("\(peer.name.split(separator: " ")[0])-\(rows)").path
    }

    /// The names of the measured peers, Heartwood's first.
    var names: [String] {
        if options.isStores { return StoreRunner.names }
        if options.isBackup { return BackupRunner.names }
        if options.isContexts { return ContextSaves.names }
        if options.isSearches { return SearchRunner.names }
        if options.isSwiftData { return ModelRunner.names }
        return options.isQueries ? QueryRunner.peers(options.peer).map { $0.name } : peers.map { $0.name }
    }

    func run() throws {
        for rows in options.sizes {
            let subjects = subjects(rows), isOrdinary = !subjects.contains { $0.isAskedFor }
            for subject in subjects where subject.isAskedFor || options.isSmoke && isOrdinary {
                let found = try subject.run()
                // The smoke size runs all of them, and reports the ordinary workloads.
                if subject.isAskedFor { measurements += found }
            }
            if isOrdinary { try ordinary(rows) }
        }
    }

    /// What an option asks for in place of the ordinary workloads.
    private func subjects(_ rows: Int) -> [(isAskedFor: Bool, run: () throws -> [Measurement])] {
        let repetitions = options.repetitions(rows), only = options.only, directory = directory, options = options
        return [
            (options.isBackup, {
                try BackupRunner(
                    rows: rows, repetitions: repetitions, seconds: Int(options.minutes * 60), only: only, directory: directory
                ).run()
            }),
            (options.isContexts, {
                try ContextSaves(rows: rows, repetitions: repetitions, seconds: options.isSmoke ? 0.1 : 3, directory: directory).run()
            }),
            (options.isSearches, { try SearchRunner(rows: rows, repetitions: repetitions, only: only, directory: directory).run() }),
            (options.isSwiftData, { try ModelRunner(rows: rows, repetitions: repetitions, only: only, directory: directory).run() }),
            (options.isStores, { try StoreRunner(rows: rows, repetitions: repetitions, only: only, directory: directory).run() }),
            (options.isQueries, {
                try QueryRunner(
                    QueryRunner.peers(options.peer), rows: rows, repetitions: repetitions, only: only, directory: directory,
                    packages: options.packages
                ).run()
            }),
        ]
    }

    private func ordinary(_ rows: Int) throws {
        let repetitions = options.repetitions(rows), only = options.only
        let size = try SizeRunner(peers, rows: rows, isEngine: options.isEngine, repetitions: repetitions, only: only) { self.path($0, rows) }
        measurements += try size.run()
        if options.isEngine, peers.count == Self.enginePeers.count {
            measurements += try EngineExtras(rows: rows, repetitions: repetitions, only: only, directory: directory).run()
        }
        for peer in peers { PeerFiles.remove(path(peer, rows)) }
        guard !options.isEngine, options.peer == nil else { return }
        measurements += try StackExtras(rows: rows, only: only, directory: directory).run()
        measurements += try ReaderExtras(rows: rows, repetitions: repetitions, only: only, directory: directory).run()
        measurements += try ContainerExtras(rows: rows, repetitions: repetitions, only: only, directory: directory).run()
        measurements += try MigrationExtras(rows: rows, repetitions: repetitions, only: only, directory: directory).run()
        measurements += try ModelExtras(rows: rows, only: only, directory: directory).run()
        measurements += try AccessorExtras(rows: rows, only: only).run()
    }
}

/// All workloads at one size.
final class SizeRunner {
    private let rows: Int
    private let repetitions: Int
    private let only: String?
    /// Stores stay open between repetitions in this case, so that the median is that of a store in use.
    private let isEngine: Bool
    private let generator: PersonGenerator
    private let peers: [(type: any Peer.Type, peer: any Peer, path: String)]
    private var results: [Measurement] = []

    init(_ types: [any Peer.Type], rows: Int, isEngine: Bool, repetitions: Int, only: String?, path: (any Peer.Type) -> String) throws {
        self.rows = rows
        self.repetitions = repetitions
        self.only = only
        self.isEngine = isEngine
        let generator = PersonGenerator(count: rows, isMadeBeforehand: isEngine)
        self.generator = generator
        peers = try types.map { type in
            let place = path(type)
            return (type, try type.init(path: place, generator: generator), place)
        }
    }

    func run() throws -> [Measurement] {
        FileHandle.standardError.write(Data("\(rows) rows\n".utf8))
        try bulk()
        try saves()
        try opens()
        let sample = generator.sample(min(10_000, rows / 2))
        try workload("point fetch by ID", "µs", per: sample.count, ids: sample) { try $0.pointByID(sample) }
        let emails = sample.map { generator.person($0).email }
        try workload("by unique string", "µs", per: emails.count) { try $0.byEmail(emails) }
        let birthdays = sample.prefix(min(1000, sample.count)).map { generator.person($0).birthday }
        try workload("range of 100, sorted", "µs", per: birthdays.count) { try $0.ranges(birthdays) }
        try workload("range of 100 as values", "µs", per: birthdays.count) { try $0.rangeValues(birthdays) }
        try workload("unindexed scan, counted", "ms") { try $0.scan() }
        try workload("all objects, two attributes", "ms", isForArchives: true) { try $0.readAll() }
        try workload("two attributes as values", "ms") { try $0.readValues() }
        try workload("two attributes as structures", "ms") { try $0.readStructures() }
        try workload("JSON Lines by the command", "ms") { try $0.writeLines() }
        try workload("members of each group", "ms") { try $0.walkGroups() }
        try workload("members of each group as values", "ms") { try $0.memberValues() }
        let changed = generator.sample(rows / 10)
        try workload("update \(changed.count)", "ms", ids: changed) { try $0.update(changed) }
        try deletes()
        try workload("compaction, VACUUM", "ms", isOfDisk: true) { try $0.compact() }
        record("file size after compaction", "MiB") { Double(PeerFiles.size($0)) / 1_048_576 }
        return results
    }

    private func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }

    private func record(_ name: String, _ unit: String, _ value: (String) -> Double) {
        for (type, _, path) in peers { results.append(Measurement(workload: name, rows: rows, peer: type.name, value: value(path), unit: unit)) }
    }

    private func note(_ name: String) {
        FileHandle.standardError.write(Data("  \(name)\n".utf8))
    }

    /// The peers in an order that rotates with the repetition.
    private func order(_ repetition: Int) -> [Int] {
        peers.indices.map { ($0 + repetition) % peers.count }
    }

    /// Every run fills the stores; each repetition measures it from an empty file.
    private func bulk() throws {
        note("bulk insert")
        var times = [[Double]](repeating: [], count: peers.count)
        for repetition in 0..<(rows >= 1_000_000 ? 1 : repetitions) {
            for index in order(repetition) {
                let (_, peer, path) = peers[index]
                PeerFiles.remove(path)
                try peer.open()
                SuppliedMemory.settle(rows: rows)
                times[index].append(try Clock.seconds { try peer.bulkInsert() }.1)
                try peer.close()
            }
        }
        for (index, (type, _, _)) in peers.enumerated() {
            results.append(Measurement(workload: "bulk insert", rows: rows, peer: type.name, value: Clock.median(times[index]), unit: "s"))
        }
        record("file size", "MiB") { Double(PeerFiles.size($0)) / 1_048_576 }
    }

    private func saves() throws {
        guard wants("durable save") else { return }
        note("durable saves")
        // Otherwise the system would write the loads' dirty pages during the first measurement.
        sync()
        // An archive writes everything each time, so two saves are enough.
        let numbers = peers.map { generator.sample($0.peer is ArchivePeer ? 2 : min(500, rows / 4)) }
        var times = [[Double]](repeating: [], count: peers.count), bytes = [Double](repeating: 0, count: peers.count)
        for (index, (_, peer, _)) in peers.enumerated() {
            try peer.open()
            try (peer as? HeartwoodPeer)?.prepareIDs(numbers[index])
        }
        // Alternating, so that the disk is equally busy for each peer.
        for round in 0..<Self.saveRounds {
            for index in order(round) {
                let own = numbers[index]
                let before = ProcessFigures.bytesWritten
                for number in own[own.count * round / Self.saveRounds..<own.count * (round + 1) / Self.saveRounds] {
                    times[index].append(try Clock.seconds { try peers[index].peer.saveOne(number) }.1)
                }
                bytes[index] += Double(ProcessFigures.bytesWritten - before)
            }
        }
        for (index, (type, peer, _)) in peers.enumerated() {
            try peer.close()
            let own = times[index], isArchive = peer is ArchivePeer
            results.append(Measurement(workload: "durable save, median", rows: rows, peer: type.name, value: Clock.median(own) * 1e6, unit: "µs"))
            results.append(Measurement(workload: "durable save, 99th", rows: rows, peer: type.name, value: isArchive ? nil : Clock.percentile99(own) * 1e6, unit: "µs"))
            results.append(Measurement(workload: "durable save, written", rows: rows, peer: type.name, value: bytes[index] / Double(own.count), unit: "B"))
        }
    }

    private static let saveRounds = 10

    /// A new process each time, so that only the system's page cache is warm.
    private func opens() throws {
        guard wants("open") else { return }
        note("open")
        var times = [[Double]](repeating: [], count: peers.count), memory = times
        for repetition in 0..<max(3, repetitions) {
            for index in order(repetition) where repetition < 2 || !(peers[index].peer is ArchivePeer) {
                let figures = try ChildProcess.open(peers[index].type, path: peers[index].path, rows: rows)
                times[index].append(figures.seconds)
                memory[index].append(figures.bytes)
            }
        }
        for (index, (type, _, _)) in peers.enumerated() {
            results.append(Measurement(workload: "open and first object", rows: rows, peer: type.name, value: Clock.median(times[index]) * 1000, unit: "ms"))
            results.append(Measurement(workload: "memory for that", rows: rows, peer: type.name, value: Clock.median(memory[index]) / 1_048_576, unit: "MiB"))
        }
    }

    private func deletes() throws {
        let count = rows / 10
        guard wants("delete") else { return }
        // The same persons for every peer. They can be deleted only once, so there is one repetition.
        let numbers = (0..<rows).filter { $0 % 10 == 3 }
        try workload("delete \(count)", "ms", ids: numbers, once: true, isOfDisk: true) { try $0.delete(numbers) }
    }

    /// - Parameters:
    ///   - once: whether a second run would find nothing to do.
    ///   - isOfDisk: whether earlier dirty pages, and memory that the machine must supply, would add to its time.
    private func workload(
        _ name: String, _ unit: String, per count: Int = 1, ids: [Int] = [], once: Bool = false, isOfDisk: Bool = false, isForArchives: Bool = false,
        _ body: (any Peer) throws -> UInt64?
    ) throws {
        guard wants(name) else { return }
        note(name)
        var times = [[Double]](repeating: [], count: peers.count)
        for repetition in 0..<(once ? 1 : repetitions) {
            var seen: (peer: String, sum: UInt64)?
            for index in order(repetition) {
                let (type, peer, _) = peers[index]
                // Opening an archive reads everything: one repetition is enough, and only for workloads that apply to it.
                if peer is ArchivePeer, !isForArchives || repetition > 0 { continue }
                if !isEngine || repetition == 0 { try peer.open() }
                try (peer as? HeartwoodPeer)?.prepareIDs(ids)
                if isOfDisk { SuppliedMemory.settle(rows: rows) }
                let (sum, seconds) = try Clock.seconds { try body(peer) }
                if !isEngine || once || repetition == repetitions - 1 { try peer.close() }
                guard let sum else { continue }
                times[index].append(seconds)
                if let seen, seen.sum != sum { throw PeerError(description: "\(name): \(seen.peer) and \(type.name) do not agree") }
                seen = (type.name, sum)
            }
        }
        let scale = unit == "ms" ? 1e3 : 1e6
        for (index, (type, _, _)) in peers.enumerated() {
            results.append(Measurement(
                workload: name, rows: rows, peer: type.name, value: times[index].isEmpty ? nil : Clock.median(times[index]) * scale / Double(count),
                unit: unit))
        }
    }
}
