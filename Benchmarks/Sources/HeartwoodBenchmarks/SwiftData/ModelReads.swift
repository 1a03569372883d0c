import SwiftData

/// Measures reading an Int of loaded models: without an observer, with one, and while reads are tracked. Beside it managed objects with `@NSManaged`,
/// and classes with `@Observable`, which have no store.
struct ModelReads {
    let rows: Int
    let only: String?

    private static let workload = "read an Int"
    private static let count = 1000
    private static let passes = 2000

    func run() throws -> [Measurement] {
        guard only.map({ Self.workload.contains($0) }) ?? true else { return [] }
        FileHandle.standardError.write(Data("  \(Self.workload)\n".utf8))
        let container = try ModelContainer(for: ModelCounter.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let filling = ModelContext(container)
        for number in 0..<Self.count { filling.insert(ModelCounter(count: number)) }
        try filling.save()
        let unobserved = try ModelContext(container).fetch(FetchDescriptor<ModelCounter>())
        let observed = try ModelContext(container).fetch(FetchDescriptor<ModelCounter>())
        let plain = (0..<Self.count).map(ObservableCounter.init)
        let context = try CounterContext.make { context in
            for number in 0..<Self.count { ManualCounter(context: context).count = Int64(number) }
        }
        let objects = try context.fetch(NSFetchRequest<ManualCounter>(entityName: "ManualCounter"))
        withObservationTracking { _ = Self.sum(observed) } onChange: {}
        func tracked(_ read: () -> Int) -> Int { withObservationTracking(read, onChange: {}) }
        let ways: [(name: String, peer: String, passes: Int, read: () -> Int)] = [
            (Self.workload, SwiftDataPeer.name, Self.passes, { Self.sum(unobserved) }),
            (Self.workload, ObjectsPeer.name, Self.passes, { Self.sum(objects) }),
            ("\(Self.workload), one observer", SwiftDataPeer.name, Self.passes, { Self.sum(observed) }),
            ("\(Self.workload), tracked", SwiftDataPeer.name, Self.passes / 100, { tracked { Self.sum(observed) } }),
            ("\(Self.workload) of an @Observable class", SwiftDataPeer.name, Self.passes, { Self.sum(plain) }),
            ("\(Self.workload) of an @Observable class, tracked", SwiftDataPeer.name, Self.passes / 100, { tracked { Self.sum(plain) } }),
        ]
        var least = [Double](repeating: .infinity, count: ways.count)
        // By turns, so that the machine is equally busy for each. The least time is the one that other processes disturb least.
        for _ in 0..<9 {
            for (place, way) in ways.enumerated() {
                let (sum, seconds) = Clock.seconds { (0..<way.passes).reduce(0) { sum, _ in sum &+ way.read() } }
                guard sum == way.passes * Self.count * (Self.count - 1) / 2 else { throw PeerError(description: "\(way.name): \(sum)") }
                least[place] = min(least[place], seconds / Double(way.passes * Self.count) * 1e9)
            }
        }
        return zip(ways, least).map { Measurement(workload: $0.name, rows: rows, peer: $0.peer, value: $1, unit: "ns") }
    }

    // A loop for each class, so that only the property's access is measured.

    @inline(never)
    private static func sum(_ list: [ModelCounter]) -> Int {
        var sum = 0
        for counter in list { sum &+= counter.count }
        return sum
    }

    @inline(never)
    private static func sum(_ list: [ManualCounter]) -> Int {
        var sum = 0
        for counter in list { sum &+= Int(counter.count) }
        return sum
    }

    @inline(never)
    private static func sum(_ list: [ObservableCounter]) -> Int {
        var sum = 0
        for counter in list { sum &+= counter.count }
        return sum
    }
}

@Model
final class ModelCounter {
    var count: Int
    init(count: Int) { self.count = count }
}

@Observable
final class ObservableCounter {
    var count: Int
    init(count: Int) { self.count = count }
}
