import HeartwoodTestSupport
import Testing

@testable import Heartwood

@Suite struct MigrationAssociationsTests {
    private func key(_ row: UInt64) -> ObjectKey { ObjectKey(slot: 1, row: row) }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `Associations answer as a plain list of pairs does, through additions, repetitions and new names`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var associations = MigrationAssociations(), pairs: [(source: ObjectKey, destination: ObjectKey)] = []
        var next: UInt64 = 1000
        for _ in 0..<200 {
            let source = key(.random(in: 1...8, using: &generator)), destination = key(.random(in: 101...108, using: &generator))
            if Int.random(in: 0..<5, using: &generator) == 0, let old = pairs.randomElement(using: &generator)?.destination {
                next += 1
                associations.rename(old, to: key(next))
                for index in pairs.indices where pairs[index].destination == old { pairs[index].destination = key(next) }
            } else {
                associations.add(source, destination)
                if !pairs.contains(where: { $0 == (source, destination) }) { pairs.append((source, destination)) }
            }
        }
        #expect(associations.count == pairs.count, "seed \(seed)")
        #expect(associations.sources == pairs.map(\.source) && associations.destinations == pairs.map(\.destination), "seed \(seed)")
        for row in UInt64(1)...8 {
            #expect(associations.destinations(of: key(row)) == pairs.filter { $0.source == key(row) }.map(\.destination), "seed \(seed)")
        }
        for destination in Set(pairs.map(\.destination)) {
            #expect(associations.sources(of: destination) == pairs.filter { $0.destination == destination }.map(\.source), "seed \(seed)")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `One source has a hundred thousand destinations, each added at constant cost`() {
        var associations = MigrationAssociations()
        for row in UInt64(1)...100_000 { associations.add(key(1), key(row)) }
        for row in UInt64(1)...100_000 { associations.add(key(1), key(row)) }
        #expect(associations.count == 100_000)
    }
}
