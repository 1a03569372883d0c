import Foundation
import HeartwoodTestSupport
import Testing

@testable import Heartwood

@Suite struct IdentityTableTests {
    private final class Key {}

    @Test
    func `A table by identity has what a dictionary has, after every change`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for count in [0, 1, 2, 9] {
            let keys = (0..<count + 1).map { _ in Key() }
            var table = IdentityTable<Int>(), model: [ObjectIdentifier: Int] = [:]
            #expect(table.isEmpty && table.values.isEmpty)
            for step in 0..<count * 20 {
                let key = keys[Int.random(in: 0..<count, using: &random)]
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1: (table[key], model[ObjectIdentifier(key)]) = (step, step)
                case 2: (table[key], model[ObjectIdentifier(key)]) = (nil, nil)
                case 3:
                    table[key, default: 1] += step
                    model[ObjectIdentifier(key), default: 1] += step
                default:
                    table.update { value in
                        value += 1
                        return value % 7 != 0
                    }
                    model = model.mapValues { $0 + 1 }.filter { $0.value % 7 != 0 }
                }
                for key in keys { #expect(table[key] == model[ObjectIdentifier(key)], "seed \(seed)") }
                #expect(table.values.sorted() == model.values.sorted() && table.isEmpty == model.isEmpty, "seed \(seed)")
            }
        }
    }
}
