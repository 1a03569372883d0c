import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

/// A sort without an index that keeps only the first few rows, and rejects most rows early: the rows agree with the whole order.
@Suite struct LimitedSortTests {
    @Test(arguments: ["int16", "int64", "double", "float", "date"], [true, false])
    func `The first few of many agree with the whole order`(key: String, ascending: Bool) throws {
        let seed = ProcessInfo.processInfo.environment["HEARTWOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("limited sort: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let odd: [Any] = [Double.nan, -0.0, 0.0, Double.infinity, -Double.infinity, -Double.greatestFiniteMagnitude, Double.leastNonzeroMagnitude]
        let whole: [Any] = [Int16.min, Int16.max, 0, -1]
        let stack = try TestStack(.inMemory)
        let rows = (0..<2400).map { _ -> [String: Any] in
            var row: [String: Any] = ["string": "s\(random.next() % 7)"]
            let number = Double(Int64(bitPattern: random.next()) >> 40) / 8
            let isOdd = random.next() % 20 == 0
            switch key {
            case "int16": row[key] = isOdd ? whole[Int(random.next() % 4)] : Int(random.next() % 3000) - 1500
            case "int64": row[key] = isOdd ? Int64.min : Int64(bitPattern: random.next()) >> Int64(random.next() % 60)
            case "float": row[key] = isOdd ? [-Float.infinity, .nan, -0.0][Int(random.next() % 3)] : Float(number)
            case "date": row[key] = Date(timeIntervalSinceReferenceDate: number)
            default: row[key] = isOdd ? odd[Int(random.next() % 7)] : number
            }
            if random.next() % 4 == 0 { row[key] = nil }
            return row
        }
        try stack.insertBatch(rows, into: "Everything")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Everything")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending), NSSortDescriptor(key: "string", ascending: false)]
        let all = try stack.context.fetch(request).map(\.objectID)
        #expect(all.count == 2400)
        for (limit, offset) in [(1, 0), (40, 0), (100, 77), (1500, 0), (600, 900)] {
            (request.fetchLimit, request.fetchOffset) = (limit, offset)
            let found = try stack.context.fetch(request).map(\.objectID)
            #expect(found == Array(all[offset..<offset + limit]), "seed \(seed), \(limit) from \(offset) on")
        }
    }
}
