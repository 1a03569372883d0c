import Testing

@testable import Heartwood

/// Every way of writing with every way of reading, over tables of small changes: no save stores a value that the test did not set.
///
/// A save that set two texts of one object to nil once wrote wrong values into its other texts.
@Suite struct WritingCombinationTests {
    /// Types have the numbers of Apple's headers.
    @Test
    func `The combinations have every type of attribute`() {
        let types = (0...100).compactMap { NSAttributeType(rawValue: $0 * 100) }.filter { $0 != .undefinedAttributeType }
        let missing = types.filter { type in !AttributeKind.allCases.contains { $0.type == type } }
        #expect(types.count >= 15 && missing.isEmpty)
    }

    @Test(arguments: WayOfWriting.wanted)
    func `Every way of writing texts beside each other stores what was set, by every way of reading`(way: WayOfWriting) throws {
        for kind in way.kinds { try check(way, kind) { .texts($0) } }
    }

    @Test(arguments: WayOfWriting.wanted)
    func `Every way of writing attributes of all types stores what was set, by every way of reading`(way: WayOfWriting) throws {
        for kind in way.kinds { try check(way, kind) { .types(!CombinedSample.isLong && way != .own ? .few : $0) } }
    }

    private func check(_ way: WayOfWriting, _ kind: StoreKind, _ make: (CombinedSample.Extent) -> CombinedSample) throws {
        var sample = make(kind == .recordLog ? CombinedSample.isLong ? .all : .many : CombinedSample.isLong ? .many : .few)
        let turn = (WayOfWriting.allCases.firstIndex(of: way) ?? 0) + (StoreKind.allCases.firstIndex(of: kind) ?? 0)
        if kind != .recordLog, !CombinedSample.isLong {
            // The other stores divide the cases and the entities among them.
            sample.entities = [sample.entities[turn % 2]]
            sample.thinOut(turn)
        } else if kind == .incremental {
            // Such a store answers a request by iterating over all of its objects.
            sample.thinOut(turn)
        }
        let store = try CombinedStore(kind, sample)
        try way.write(store)
        var found = Differences()
        for reading in WayOfReading.ways(all: kind == .recordLog && sample.name == "texts", turn: turn) {
            try reading.read(store, "\(sample.name) \(kind) \(way) \(reading)", into: &found)
        }
        found.report()
        #expect(found.compared > sample.cases.count * sample.columns.count * sample.entities.count * 2)
    }
}
