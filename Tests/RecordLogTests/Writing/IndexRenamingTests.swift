import Testing

@testable import RecordLog

@Suite struct IndexRenamingTests {
    @Test
    func `An index takes another name with its entries`() throws {
        let sample = try SampleStore()
        for number in 0..<40 { try sample.insert(.init(name: "p \(number)", age: Int64(number), group: UInt64(number % 4))) }
        let before = sample.store.statistics.bytesAppended
        try sample.store.write { try $0.rename(indexes: [sample.byName: "age", sample.byAge: "name"]) }
        #expect(sample.store.statistics.bytesAppended - before < 1 << 10)
        try sample.insert(.init(name: "new", age: 1, group: 1))
        try sample.check(sample.store.snapshot(), sample.people)
        #expect(sample.store.snapshot().catalog.index(sample.byName)?.name == "age")
        for names in [[sample.byName: "group"], [IndexID(rawValue: 999): "other"]] {
            let error = #expect(throws: StoreError.self) { try sample.store.write { try $0.rename(indexes: names) } }
            #expect(error?.code == .schema)
        }
        try sample.store.close()
        let again = try LogStore.open(path: SampleStore.path, options: sample.options)
        #expect(again.snapshot().catalog.index(sample.byAge)?.name == "name")
    }
}
