import Foundation
import Heartwood

/// Measures reading an Int64 of loaded objects: through a generated accessor, through `@NSManaged`, and a stored property of a plain class.
struct AccessorExtras {
    let rows: Int
    let only: String?

    private static let workload = "read an Int64 attribute"
    private static let objects = 1000
    private static let passes = 2000

    func run() throws -> [Measurement] {
        guard only.map({ Self.workload.contains($0) }) ?? true else { return [] }
        FileHandle.standardError.write(Data("  \(Self.workload)\n".utf8))
        let context = try CounterContext.make { context in
            for count in 0..<Int64(Self.objects) {
                let generated = GeneratedCounter(context: context), manual = ManualCounter(context: context)
                (generated.count, manual.count) = (count, count)
            }
        }
        let generated = try context.fetch(NSFetchRequest<GeneratedCounter>(entityName: "GeneratedCounter"))
        let manual = try context.fetch(NSFetchRequest<ManualCounter>(entityName: "ManualCounter"))
        let plain = (0..<Int64(Self.objects)).map(PlainCounter.init)
        let ways: [(name: String, read: () -> Int64)] = [
            ("stored property of a class", { Self.sum(plain) }), ("generated accessor", { Self.sum(generated) }),
            ("@NSManaged", { Self.sum(manual) }),
        ]
        var times = ways.map { _ in [Double]() }
        // Alternating, so that the machine is equally busy for each.
        for _ in 0..<9 {
            for (place, way) in ways.enumerated() {
                let (sum, seconds) = Clock.seconds { (0..<Self.passes).reduce(Int64(0)) { sum, _ in sum &+ way.read() } }
                precondition(sum == Int64(Self.passes) * Int64(Self.objects) * Int64(Self.objects - 1) / 2, "every way reads the same")
                times[place].append(seconds / Double(Self.passes * Self.objects) * 1e9)
            }
        }
        // The minimum, which other processes disturb least: a read takes nanoseconds.
        let least = times.map { $0.min() ?? 0 }
        return ways.indices.flatMap { place -> [Measurement] in
            let name = "\(Self.workload), \(ways[place].name)"
            let time = Measurement(workload: name, rows: rows, peer: HeartwoodPeer.name, value: least[place], unit: "ns")
            guard place > 0 else { return [time] }
            let ratio = Measurement(
                workload: "\(name), times the stored property", rows: rows, peer: HeartwoodPeer.name, value: least[place] / least[0], unit: "×")
            return [time, ratio]
        }
    }

    // A loop for each class, so that only the property access is measured.

    @inline(never)
    private static func sum(_ list: [PlainCounter]) -> Int64 {
        var sum: Int64 = 0
        for counter in list { sum &+= counter.count }
        return sum
    }

    @inline(never)
    private static func sum(_ list: [GeneratedCounter]) -> Int64 {
        var sum: Int64 = 0
        for counter in list { sum &+= counter.count }
        return sum
    }

    @inline(never)
    private static func sum(_ list: [ManualCounter]) -> Int64 {
        var sum: Int64 = 0
        for counter in list { sum &+= counter.count }
        return sum
    }
}
