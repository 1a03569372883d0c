import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Indexes with several terms a row, beside a dictionary.
@Suite struct TermIndexTests {
    /// The words of the column "name", each once.
    private struct Words: IndexTermExtractor {
        var columnNames: [String]? = ["name"]

        func appendTerms(of row: UnsafeRowView, layout: RowLayout, to terms: TermList) {
            for word in Set(words(row, layout)) { Array(word.utf8).withUnsafeBytes { terms.append($0) } }
        }

        private func words(_ row: UnsafeRowView, _ layout: RowLayout) -> [Substring] {
            guard let position = layout.columns.firstIndex(where: { $0.name == "name" }), !row.isNull(layout.access[position]) else { return [] }
            return String(decoding: row.bytes(layout.access[position]), as: UTF8.self).split(separator: " ")
        }
    }

    private static let extractorName = "terms:words"

    private static func sample(_ configure: (inout StoreOptions) -> Void = { _ in }) throws -> SampleStore {
        try SampleStore {
            $0.extractors = [extractorName: Words()]
            configure(&$0)
        }
    }

    private static func define(_ sample: SampleStore) throws -> IndexID {
        try sample.store.write { try $0.defineIndex(named: "words", on: sample.table.id, parts: [], extractorName: extractorName) }
    }

    private static func range(_ term: String) -> KeyRange { .prefix(Array(term.utf8) + [0]) }

    private static func change(_ sample: SampleStore, _ row: UInt64?, _ name: String?, age: Int64 = 0) throws {
        let person = SampleStore.Person(name: name, age: age, group: 1)
        guard let row else { return _ = try sample.insert(person) }
        try sample.store.write { try sample.put($0, row, person) }
        sample.people[row] = person
    }

    private static func delete(_ sample: SampleStore, _ row: UInt64) throws {
        _ = try sample.store.write { try $0.delete(sample.reference(row)) }
        sample.people[row] = nil
    }

    private static func model(_ people: [UInt64: SampleStore.Person]) -> [String: [UInt64]] {
        var rows: [String: [UInt64]] = [:]
        for (row, person) in people {
            for word in Set((person.name ?? "").split(separator: " ")) { rows[String(word), default: []].append(row) }
        }
        return rows.mapValues { $0.sorted() }
    }

    /// Compares each term's rows, all entries in both directions, and the counts with the dictionary.
    private static func check(_ sample: SampleStore, _ index: IndexID, _ terms: [String]) throws {
        let snapshot = sample.store.snapshot(), wanted = model(sample.people)
        for term in terms {
            let rows = wanted[term] ?? []
            #expect(try sample.rows(snapshot, index, range(term)) == rows, "\(term)")
            #expect(try snapshot.count(index, range(term)) == rows.count, "\(term)")
            #expect(try snapshot.estimate(index, range(term)) >= rows.count, "\(term)")
        }
        let all = wanted.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.flatMap(\.value)
        #expect(try sample.rows(snapshot, index) == all)
        #expect(try sample.rows(snapshot, index, descending: true) == all.reversed())
        #expect(try snapshot.count(index, .all) == all.count)
    }

    private static func isSound(_ sample: SampleStore) throws -> Bool {
        let report = try StoreVerification.verify(path: SampleStore.path, fileSystem: sample.fileSystem) { name in
            name == extractorName ? Words() : nil
        }
        return report.isSound
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `An index of terms agrees with a dictionary after any changes, checkpoints, openings and compactions`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = try Self.sample {
            // Some spill their entries.
            if seed % 2 == 0 { $0.indexMemory = 2_000 }
        }
        let terms = (0..<12).map { "t\($0)" } + ["t1x", "u", String(repeating: "l", count: TermList.sizeMax)]
        func name() -> String? {
            guard Int.random(in: 0..<8, using: &random) > 0 else { return nil }
            return (0..<Int.random(in: 0...6, using: &random)).map { _ in terms.randomElement(using: &random)! }.joined(separator: " ")
        }
        // The index is built over rows that exist.
        for _ in 0..<20 { try Self.change(sample, nil, name()) }
        let index = try Self.define(sample)
        try Self.check(sample, index, terms)
        for _ in 0..<60 {
            try sample.store.write { transaction in
                for _ in 0..<Int.random(in: 0...8, using: &random) {
                    let row = sample.people.keys.sorted().randomElement(using: &random)
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0:
                        guard let row else { continue }
                        _ = try transaction.delete(sample.reference(row))
                        sample.people[row] = nil
                    case 1:
                        guard let row, var person = sample.people[row] else { continue }
                        person.age += 1
                        try sample.put(transaction, row, person)
                        sample.people[row] = person
                    case 2:
                        guard let row, var person = sample.people[row] else { continue }
                        person.name = name()
                        try sample.put(transaction, row, person)
                        sample.people[row] = person
                    default:
                        let row = try transaction.newRow(in: sample.table.id)
                        let person = SampleStore.Person(name: name(), age: 0, group: 1)
                        try sample.put(transaction, row, person)
                        sample.people[row] = person
                    }
                }
            }
            switch Int.random(in: 0..<12, using: &random) {
            case 0: try sample.store.checkpoint()
            case 1: try sample.reopen()
            case 2: try sample.reopenAfterCrash()
            case 3: try sample.store.compact()
            case 4: try sample.store.rebuildIndexes()
            case 5...7: try Self.check(sample, index, terms)
            default: break
            }
        }
        try Self.check(sample, index, terms)
        #expect(try Self.isSound(sample))
    }

    /// A checkpointed run, a run with tombstones, and entries in memory.
    @Test(arguments: [0, 1, 2, 5, 40, 700])
    func `A cursor over a term seeks to every row from every row, over several runs with tombstones`(count: Int) throws {
        let sample = try Self.sample()
        let index = try Self.define(sample)
        try sample.store.write { transaction in
            for number in 0..<count {
                let row = try transaction.newRow(in: sample.table.id)
                let person = SampleStore.Person(name: "a b\(number % 3)", age: 0, group: 1)
                try sample.put(transaction, row, person)
                sample.people[row] = person
            }
        }
        try sample.store.checkpoint()
        let rows = sample.people.keys.sorted()
        for (position, row) in rows.enumerated() {
            if position % 7 == 3 { try Self.delete(sample, row) }
            if position % 11 == 5, sample.people[row] != nil { try Self.change(sample, row, "b0") }
            if position == count / 2 { try sample.store.checkpoint() }
        }
        if count > 0 { try Self.change(sample, nil, "a") }
        let snapshot = sample.store.snapshot(), wanted = Self.model(sample.people)["a"] ?? []
        let last = (wanted.last ?? 0) + 2, step = count > 100 ? 61 : 1
        for from in stride(from: 0, to: wanted.count, by: step) {
            for to in stride(from: 0, through: last, by: step) {
                var cursor = try snapshot.cursor(index, Self.range("a"))
                for _ in 0...from { _ = try cursor.next() }
                let found = wanted[from...].first { $0 >= to }
                #expect(try cursor.seek(row: to) == found, "from \(wanted[from]) to \(to)")
                guard let found else { continue }
                #expect(try cursor.next() == wanted[from...].first { $0 > found }, "after \(to) from \(wanted[from])")
            }
        }
    }

    /// Rows of one term in a packed block, in a run with tombstones, and in memory.
    @Test(arguments: [0, 1, 2, 31, 32, 33, 700])
    func `Rows taken by the piece are those of single steps, whatever the piece's size`(count: Int) throws {
        let sample = try Self.sample()
        let index = try Self.define(sample)
        func add(_ count: Int) throws {
            try sample.store.write { transaction in
                for number in 0..<count {
                    let row = try transaction.newRow(in: sample.table.id)
                    let person = SampleStore.Person(name: "a b\(number % 3) \(number % 2 == 0 ? "c" : "")", age: 0, group: 1)
                    try sample.put(transaction, row, person)
                    sample.people[row] = person
                }
            }
        }
        func check(_ stage: String) throws {
            let snapshot = sample.store.snapshot(), wanted = Self.model(sample.people)
            for term in ["a", "b1", "c"] {
                for size in [1, 2, 3, 32, 1000] {
                    var cursor = try snapshot.cursor(index, Self.range(term)), found: [UInt64] = []
                    var rows = [UInt64](repeating: 0, count: size), taken = size
                    while taken == size {
                        taken = try rows.withUnsafeMutableBufferPointer { try cursor.take(into: $0) }
                        found += rows[..<taken]
                    }
                    #expect(found == wanted[term] ?? [], "\(stage), \(term), pieces of \(size)")
                }
            }
            var cursor = try snapshot.cursor(index, .all), found: [String: [UInt64]] = [:]
            var rows = [UInt64](repeating: 0, count: 5)
            while true {
                let taken = try rows.withUnsafeMutableBufferPointer { try cursor.takePiece(into: $0) }
                guard taken > 0 else { break }
                found[String(decoding: cursor.unsafeKey.dropLast(), as: UTF8.self), default: []] += rows[..<taken]
            }
            #expect(found == wanted, "\(stage)")
        }
        try add(count)
        try sample.store.checkpoint()
        try check("one run")
        for (position, row) in sample.people.keys.sorted().enumerated() where position % 7 == 3 { try Self.delete(sample, row) }
        try check("with deletions in memory")
        try sample.store.checkpoint()
        try check("two runs")
        try add(count)
        try check("two runs, and memory")
        try sample.store.compact()
        try check("compacted")
    }

    @Test
    func `A change adds entries for the terms alone that only one of the two texts has`() throws {
        let sample = try Self.sample()
        let index = try Self.define(sample)
        let row = try sample.insert(.init(name: "a b c", age: 1, group: 1))
        try sample.store.checkpoint()
        func entries() throws -> Int { try sample.store.snapshot().estimate(index, .all) }
        #expect(try entries() == 3)
        try Self.change(sample, row, "a b c", age: 2)
        #expect(try entries() == 3)
        try Self.change(sample, row, "c b a")
        #expect(try entries() == 3)
        try Self.change(sample, row, "a b d")
        #expect(try entries() == 5)
        try Self.change(sample, row, nil)
        try sample.store.checkpoint()
        #expect(try sample.store.snapshot().count(index, .all) == 0)
        try Self.check(sample, index, ["a", "b", "c", "d"])
    }

    @Test
    func `An extractor of terms has a name that says so, and no other has`() throws {
        struct Ages: IndexKeyExtractor {
            func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool { false }
        }
        let sample = try SampleStore { $0.extractors = ["words": Words(), "terms:ages": Ages()] }
        for name in ["words", "terms:ages"] {
            let error = #expect(throws: StoreError.self) {
                try sample.store.write { try $0.defineIndex(named: "x", on: sample.table.id, parts: [], extractorName: name) }
            }
            #expect(error?.code == .schema, "\(name)")
        }
    }

    @Test
    func `An entry whose term the one before has takes about five bytes in a run`() throws {
        let sample = try Self.sample()
        let index = try Self.define(sample)
        try sample.store.write { transaction in
            for _ in 0..<2000 {
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, .init(name: "first second third", age: 1, group: 1))
            }
        }
        try sample.store.checkpoint()
        let runs = sample.store.snapshot().indexes[Int(index.rawValue)]
        #expect(runs?.diskEntryCount == 6000 && runs?.freshEntryCount == 0)
        #expect(Double(runs?.diskByteCount ?? .max) < 6 * 6000)
    }

    @Test
    func `Without the extractor a reader does without the index, and a writer refuses`() throws {
        let sample = try Self.sample()
        let index = try Self.define(sample)
        try sample.insert(.init(name: "a", age: 1, group: 1))
        try sample.store.checkpoint()
        try sample.insert(.init(name: "a", age: 1, group: 1))
        var options = sample.options
        options.extractors = [:]
        options.isReadOnly = true
        let reader = try LogStore.open(path: SampleStore.path, options: options)
        #expect(throws: StoreError.self) { try sample.rows(reader.snapshot(), index) }
        options.isReadOnly = false
        let error = #expect(throws: StoreError.self) { try LogStore.open(path: SampleStore.path, options: options) }
        #expect(error?.code == .schema)
    }
}
