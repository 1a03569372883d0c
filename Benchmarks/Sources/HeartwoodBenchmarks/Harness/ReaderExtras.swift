import Foundation
import Heartwood
import Synchronization

/// Measures point fetches by 1, 2, 4 and 8 threads at once: contexts of one coordinator, and connections of SQLite.
struct ReaderExtras {
    let rows: Int
    let repetitions: Int
    let only: String?
    let directory: URL

    private static let counts = [1, 2, 4, 8]
    private static let peers: [any Peer.Type] = [HeartwoodPeer.self, SQLitePeer.self]

    func run() throws -> [Measurement] {
        guard only.map({ "point fetches by threads".contains($0) }) ?? true else { return [] }
        FileHandle.standardError.write(Data("  point fetches by threads\n".utf8))
        let generator = PersonGenerator(count: rows)
        let paths = Self.peers.indices.map { directory.appendingPathComponent("readers-\($0)").path }
        defer { paths.forEach(PeerFiles.remove) }
        for (path, type) in zip(paths, Self.peers) {
            let peer = try type.init(path: path, generator: generator)
            try peer.open()
            try peer.bulkInsert()
            try peer.close()
        }
        let context = try HeartwoodPeer.context(at: URL(fileURLWithPath: paths[0]), HeartwoodPeer.model())
        guard let coordinator = context.persistentStoreCoordinator else { return [] }
        let fetches = min(rows, 100_000)
        var found: [Measurement] = []
        for count in Self.counts {
            var rates = [[Double]](repeating: [], count: Self.peers.count)
            for round in 0..<repetitions {
                for index in Self.peers.indices.map({ ($0 + round) % Self.peers.count }) {
                    let read = Atomic<UInt64>(0)
                    let seconds = try ThreadsAtOnce.seconds(count) { thread in
                        let numbers = (0..<fetches).map { ($0 &* 7919 &+ thread &* 104_729) % rows }
                        let reader = index == 0
                            ? try Self.contextReader(coordinator, numbers)
                            : try Self.connectionReader(paths[index], generator, numbers)
                        return { read.wrappingAdd(try reader(), ordering: .relaxed) }
                    }
                    guard read.load(ordering: .relaxed) != 0 else { throw PeerError(description: "the threads have read nothing") }
                    rates[index].append(Double(count * fetches) / seconds / 1000)
                }
            }
            let workload = "point fetches, \(count) thread\(count == 1 ? "" : "s")"
            found += zip(Self.peers, rates).map { type, rates in
                Measurement(workload: workload, rows: rows, peer: type.name, value: Clock.median(rates), unit: "thousand/s")
            }
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return found
    }

    private static func contextReader(_ coordinator: NSPersistentStoreCoordinator, _ numbers: [Int]) throws -> () throws -> UInt64 {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let store = coordinator.persistentStores.first?.identifier ?? ""
        let ids = numbers.compactMap { number in
            URL(string: "x-coredata://\(store)/Person/p\(number + 1)").flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
        }
        return {
            var sum = Checksum()
            for id in ids {
                guard let person = context.object(with: id) as? ManagedPerson else { continue }
                sum.add(person.name)
                sum.add(person.age)
            }
            return sum.value
        }
    }

    private static func connectionReader(_ path: String, _ generator: PersonGenerator, _ numbers: [Int]) throws -> () throws -> UInt64 {
        let peer = try SQLitePeer(path: path, generator: generator)
        try peer.open()
        return {
            let sum = try peer.pointByID(numbers)
            try peer.close()
            return sum ?? 0
        }
    }
}
