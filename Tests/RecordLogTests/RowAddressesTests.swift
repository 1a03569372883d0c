import TestSupport
import Testing

@testable import RecordLog

struct RowAddressesTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func theyHoldWhatADictionaryHolds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var addresses = RowAddresses()
        var model: [UInt64: UInt64] = [:]
        #expect(addresses.isEmpty && addresses.address(1) == nil)
        for step in 0..<5000 {
            let row = UInt64.random(in: 1...(step % 2 == 0 ? 3000 : UInt64.max), using: &random)
            addresses.set(row, UInt64(step))
            model[row] = UInt64(step)
            let asked = UInt64.random(in: 1...3000, using: &random)
            guard addresses.address(asked) == model[asked], addresses.count == model.count else {
                Issue.record("seed \(seed), step \(step), row \(asked)")
                return
            }
        }
        var seen: [UInt64: UInt64] = [:]
        addresses.forEach { row, address in seen[row] = address }
        #expect(seen == model, "seed \(seed)")
    }
}
