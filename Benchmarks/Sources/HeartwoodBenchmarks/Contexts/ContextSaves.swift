import CSQLite
import Foundation
import Heartwood
import Synchronization

/// Durable saves of one changed attribute by 1 to 16 contexts of a process at once, each with a thread. Beside them SQLite with a connection each,
/// PostgreSQL by pgbench with as many clients, where it is installed, and the least that shared syncs cost.
struct ContextSaves {
    let rows: Int
    let repetitions: Int
    /// The time of each run, in seconds.
    let seconds: Double
    let directory: URL

    static let names = [HeartwoodPeer.name, SQLitePeer.name, PostgresBench.name, SyncFloor.name]
    static let counts = [1, 2, 4, 8, 16]

    /// The saves of one run's threads.
    struct Run {
        var seconds: Double
        /// The time of each save, in microseconds.
        var times: [Double]

        var perSecond: Double { Double(times.count) / seconds }
    }

    func run() throws -> [Measurement] {
        FileHandle.standardError.write(Data("\(rows) persons, changed by several contexts\n".utf8))
        let generator = PersonGenerator(count: rows), paths = ["contexts", "connections", "floor"].map { directory.appendingPathComponent($0).path }
        defer { paths.forEach(PeerFiles.remove) }
        let peers: [any Peer] = [try HeartwoodPeer(path: paths[0], generator: generator), try SQLitePeer(path: paths[1], generator: generator)]
        for peer in peers {
            try peer.open()
            try peer.bulkInsert()
            try peer.close()
        }
        let postgres = PostgresBench.start(rows: rows)
        defer { postgres?.stop() }
        let context = try HeartwoodPeer.context(at: URL(fileURLWithPath: paths[0]), HeartwoodPeer.model())
        guard let coordinator = context.persistentStoreCoordinator else { throw PeerError(description: "there is no coordinator") }
        let bodies: [(Int) throws -> Run?] = [
            { try contexts($0, coordinator) }, { try connections($0, paths[1]) }, { try postgres?.run(clients: $0, seconds: seconds) },
            { try leastCommits($0, paths[2]) },
        ]
        var measured: [Measurement] = []
        for count in Self.counts {
            var runs = [[Run]](repeating: [], count: bodies.count)
            for round in 0..<repetitions {
                for index in bodies.indices.map({ ($0 + round) % bodies.count }) {
                    if let run = try bodies[index](count) { runs[index].append(run) }
                }
            }
            measured += runs.indices.flatMap { figures(count, Self.names[$0], runs[$0]) }
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return measured
    }

    /// The medians of the runs.
    private func figures(_ count: Int, _ peer: String, _ runs: [Run]) -> [Measurement] {
        // On a busy machine a short run may end before the first save.
        let runs = runs.filter { !$0.times.isEmpty }
        let times = runs.map(\.times)
        func figure(_ name: String, _ values: [Double], _ unit: String) -> Measurement {
            let workload = "\(count) \(count == 1 ? "context" : "contexts"), \(name)"
            let value = values.isEmpty ? nil : Clock.median(values)
            FileHandle.standardError.write(Data("  \(workload), \(peer): \(value.map { "\(Int($0))" } ?? "-") \(unit)\n".utf8))
            return Measurement(workload: workload, rows: rows, peer: peer, value: value, unit: unit)
        }
        return [
            figure("time for a save", runs.map { 1e6 / $0.perSecond }, "µs"), figure("median", times.map(Clock.median), "µs"),
            figure("99th", times.map(Clock.percentile99), "µs"),
        ]
    }

    /// - Parameter make: called by each thread with its number; returns what saves once.
    private func threads(_ count: Int, _ make: @escaping @Sendable (Int) throws -> (Int) throws -> Void) throws -> Run {
        let all = Mutex<[Double]>([]), seconds = seconds
        let elapsed = try ThreadsAtOnce.seconds(count) { number in
            let save = try make(number)
            return {
                var times: [Double] = []
                let clock = ContinuousClock(), end = clock.now + .seconds(seconds)
                var before = clock.now
                while before < end {
                    try save(times.count)
                    let after = clock.now
                    times.append((after - before) / .microseconds(1))
                    before = after
                }
                all.withLock { $0 += times }
            }
        }
        return Run(seconds: elapsed, times: all.withLock { $0 })
    }

    private func contexts(_ count: Int, _ coordinator: NSPersistentStoreCoordinator) throws -> Run {
        let rows = rows
        return try threads(count) { number in
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            let store = coordinator.persistentStores.first?.identifier ?? ""
            let people = try (0..<50).map { index in
                guard let url = URL(string: "x-coredata://\(store)/Person/p\((number * 50 + index) % rows + 1)"),
                    let id = coordinator.managedObjectID(forURIRepresentation: url), let person = context.object(with: id) as? ManagedPerson
                else { throw PeerError(description: "a person is missing") }
                return person
            }
            return { round in
                people[round % people.count].score = Double(round)
                try context.save()
            }
        }
    }

    private func leastCommits(_ count: Int, _ path: String) throws -> Run {
        let floor = try SyncFloor(path)
        return try threads(count) { number in
            { round in try floor.save(number + round) }
        }
    }

    private func connections(_ count: Int, _ path: String) throws -> Run {
        let rows = rows
        return try threads(count) { number in
            let connection = SQLiteConnection()
            try connection.open(path)
            try connection.execute(SQLitePeer.pragmas())
            sqlite3_busy_timeout(connection.database, 30_000)
            return { round in
                let statement = try connection.prepare("UPDATE person SET score = ? WHERE id = ?")
                sqlite3_bind_double(statement, 1, Double(round))
                sqlite3_bind_int64(statement, 2, Int64((number * 50 + round % 50) % rows + 1))
                _ = try connection.step(statement)
                sqlite3_reset(statement)
            }
        }
    }
}
