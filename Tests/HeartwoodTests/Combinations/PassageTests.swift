import Testing

@testable import Heartwood

/// The operations keep every value, and older rows accept changes as newer ones do.
@Suite struct PassageTests {
    @Test(arguments: Passage.allCases)
    func `Texts stay as they were in a store that is reopened, compacted, salvaged or migrated`(passage: Passage) throws {
        try check(passage, .texts(.many), .insertion)
        try check(passage, .texts(.few), .own)
    }

    @Test(arguments: Passage.allCases)
    func `Attributes of all types stay as they were in a store that is reopened, compacted, salvaged or migrated`(passage: Passage) throws {
        try check(passage, .types(.few), .insertion)
        try check(passage, .types(.few), .own)
    }

    private func check(_ passage: Passage, _ sample: CombinedSample, _ way: WayOfWriting) throws {
        let first = try CombinedStore(passage.kind, sample)
        try way.write(first)
        let store = try passage.pass(first)
        let turn = Passage.allCases.firstIndex(of: passage) ?? 0
        var found = Differences()
        func read(_ moment: String, _ turn: Int) throws {
            for reading in WayOfReading.ways(all: false, turn: turn) {
                try reading.read(store, "\(sample.name) \(way), \(passage), \(moment), \(reading)", into: &found)
            }
        }
        try read("before a change", turn)
        for shift in way == .own ? [1] : [0, 1] {
            try store.change(in: store.stack.context, shift: shift)
            store.expectChanges(shift: shift)
            try store.stack.context.save()
            store.writer = store.stack.context
            try read("after a change", turn + 1 + shift)
        }
        found.report()
        #expect(found.compared > sample.cases.count * sample.columns.count * sample.entities.count * 6)
    }
}
