import HeartwoodTestSupport
import Testing

@testable import RecordLog

struct RowAddressesTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Row addresses agree with a dictionary`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var addresses = RowAddresses()
        var model: [UInt64: UInt64] = [:]
        #expect(addresses.isEmpty && addresses.address(1) == 0)
        for step in 1...5000 as ClosedRange<UInt64> {
            let row = UInt64.random(in: 1...(step % 2 == 0 ? 3000 : 1 << 40), using: &random)
            addresses.set(row, step)
            model[row] = step
            let asked = UInt64.random(in: 1...3000, using: &random)
            guard addresses.address(asked) == model[asked] ?? 0, !addresses.isEmpty else {
                Issue.record("seed \(seed), step \(step), row \(asked)")
                return
            }
        }
        #expect(Self.contents(addresses) == Self.inOrder(model), "seed \(seed)")
        #expect(Self.contents(addresses, below: 2000) == Self.inOrder(model.filter { $0.key < 2000 }), "seed \(seed)")
    }

    private static func contents(_ addresses: borrowing RowAddresses, below end: UInt64 = .max) -> [[UInt64]] {
        var seen: [[UInt64]] = []
        addresses.forEach(below: end) { row, address in seen.append([row, address]) }
        return seen
    }

    private static func inOrder(_ model: [UInt64: UInt64]) -> [[UInt64]] {
        model.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
    }

    @Test
    func `One row's address is kept too`() {
        var addresses = RowAddresses()
        addresses.set(7, 70)
        addresses.set(7, 71)
        #expect(addresses.address(7) == 71 && addresses.address(8) == 0 && addresses.address(0) == 0)
        #expect(Self.contents(addresses) == [[7, 71]] && Self.contents(addresses, below: 7).isEmpty)
        addresses.set(300, 1)
        #expect(Self.contents(addresses) == [[7, 71], [300, 1]])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `A delta keeps row addresses over older ones`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let delta = PrimaryDelta()
        var model: [UInt64: UInt64] = [:]
        var address: UInt64 = 0
        for commit in 1...40 {
            var addresses = RowAddresses()
            for _ in 0..<(commit % 3 == 0 ? 1 : 60) {
                let row = UInt64.random(in: 1...4000, using: &random)
                address += 1
                addresses.set(row, address)
                model[row] = address
            }
            addresses.move(to: delta)
            #expect(addresses.isEmpty && addresses.address(1) == 0)
        }
        for row in 1...4000 as ClosedRange<UInt64> where delta.load(row) != model[row] ?? 0 { Issue.record("seed \(seed), row \(row)") }
    }
}
