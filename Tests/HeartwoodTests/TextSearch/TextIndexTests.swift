import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Text indexes answer as a scan does.
@Suite struct TextIndexTests {
    private static let operators = ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "==", "!="]
    private static let options = ["", "[c]", "[d]", "[cd]", "[cdl]", "[n]"]

    /// Fetches by the text index, by a scan, and by evaluation of the objects, and compares.
    @discardableResult
    private func compare(_ stack: TestStack, _ predicate: NSPredicate, _ all: [NSManagedObject], _ note: String) throws -> [Int] {
        func outcome(_ body: () throws -> [Int]) -> Result<[Int], RefusedError> {
            do { return .success(try body().sorted()) } catch { return .failure(RefusedError()) }
        }
        let scanned = outcome { try QueryTuning.with(QueryTuning(access: .scan)) { try NoteStack.numbers(stack, predicate) } }
        let chosen = outcome { try NoteStack.numbers(stack, predicate) }
        let forced = outcome { try QueryTuning.with(QueryTuning(access: .index("index:byText"))) { try NoteStack.numbers(stack, predicate) } }
        // A pattern that takes too many steps fails on the text that it is tried on, which an index may leave out.
        guard case .success(let expected) = scanned else { return [] }
        #expect(chosen == scanned && forced == scanned, "\(note): \(predicate.predicateFormat.debugDescription)")
        let evaluated = all.filter { predicate.evaluate(with: $0) }.map { $0.value(forKey: "number") as? Int ?? -1 }.sorted()
        #expect(evaluated == expected, "\(note), in memory: \(predicate.predicateFormat.debugDescription)")
        return expected
    }

    private struct RefusedError: Error, Equatable {}

    private func predicate(_ operation: String, _ options: String, _ pattern: String) -> NSPredicate? {
        if operation == "MATCHES" {
            guard (try? NSRegularExpression(pattern: pattern)) != nil else { return nil }
        }
        return try? NSPredicate(parsing: "text \(operation)\(options) \(quoted(pattern))")
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }

    @Test(arguments: [StoreKind.recordLog])
    func `Index, scan and memory agree on short texts of peculiar letters`(kind: StoreKind) throws {
        let alphabet = ["a", "A", "\u{E1}", "\u{301}", "\u{DF}", "s", "\u{1100}", "\u{1161}", "\u{10041}", "\u{130}"]
        let stack = try TestStack(kind, model: NoteStack.model())
        var texts: [String?] = [nil, ""]
        for first in alphabet {
            texts.append(first)
            for second in alphabet {
                texts.append(first + second)
                texts.append(first + second + "a")
            }
        }
        for (number, text) in texts.enumerated() {
            stack.insert(number % 3 == 0 ? "Memo" : "Note", ["number": number]).setValue(text, forKey: "text")
        }
        try stack.context.save()
        if kind == .recordLog { try stack.store.log!.checkpoint() }
        let all = try stack.fetch("Note")
        var patterns = ["", "as", "ss", "sS", "aa", "\u{E1}a", "a\u{301}", "\u{AC00}", "i", "I", "*a", "a*", "?a", "a?s", "*\u{E1}*", "\\*", "a.*", ".*a", "[as]+", "(a|s)a", "a+s?", "\u{10041}\u{301}"]
        patterns += alphabet
        for operation in Self.operators {
            for options in Self.options {
                for pattern in patterns {
                    guard let predicate = predicate(operation, options, pattern) else { continue }
                    try compare(stack, predicate, all, "short")
                }
            }
        }
    }

    @Test(arguments: [11, 12] as [UInt64])
    func `Index, scan and memory agree on random texts of many scripts, after saves, deletions and batches`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stack = try TestStack(.recordLog, model: NoteStack.model())
        var number = 0
        for round in 0..<4 {
            let alphabet = (0..<6).map { _ in NastyText.letter(&random) } + ["a", "b", " "]
            for _ in 0..<40 {
                number += 1
                let note = stack.insert(Bool.random(using: &random) ? "Note" : "Memo", ["number": number])
                if case .text(let text)? = ValueDomain.short.draw(.text, &random), Bool.random(using: &random) {
                    note.setValue(text, forKey: "text")
                } else {
                    note.setValue(NastyText.text(alphabet, 12, &random), forKey: "text")
                }
            }
            var all = try stack.fetch("Note")
            for note in all where Int.random(in: 0..<8, using: &random) == 0 {
                if Bool.random(using: &random) { stack.context.delete(note) } else { note.setValue(NastyText.text(alphabet, 8, &random), forKey: "text") }
            }
            try stack.context.save()
            if round == 1 {
                let update = NSBatchUpdateRequest(entityName: "Note")
                update.predicate = NSPredicate(format: "number < 9")
                update.propertiesToUpdate = ["text": "a b \(NastyText.letter(&random))"]
                try stack.context.execute(update)
                stack.context.refreshAllObjects()
            }
            if round % 2 == 1 { try stack.store.log!.checkpoint() }
            all = try stack.fetch("Note")
            for _ in 0..<60 {
                guard let operation = Self.operators.randomElement(using: &random), let options = Self.options.randomElement(using: &random),
                    let predicate = predicate(operation, options, NastyText.text(alphabet, 4, &random))
                else { continue }
                try compare(stack, predicate, all, "seed \(seed)")
            }
        }
        try stack.coordinator.remove(stack.persistentStore)
        let kept = try entries(stack.url)
        #expect(try !kept.isEmpty && kept == entries(stack.url, rebuilds: true), "seed \(seed)")
    }

    /// The entries of the text index of notes: the file's, or those that are made anew from the rows.
    private func entries(_ url: URL, rebuilds: Bool = false) throws -> [[UInt8]] {
        var options = StoreOptions()
        options.isReadOnly = true
        options.rebuildsIndexes = rebuilds
        options.makeExtractor = SpecifiedKeys.make
        let log = try LogStore.open(path: url.path, options: options)
        defer { try? log.close() }
        let snapshot = log.snapshot()
        let index = try #require(snapshot.catalog.indexes.first { $0.name == "index:byText" })
        var cursor = try snapshot.cursor(index.id)
        var result: [[UInt8]] = []
        while let row = try cursor.next() { result.append(Array(cursor.unsafeKey) + withUnsafeBytes(of: row.bigEndian, Array.init)) }
        return result
    }

    @Test(arguments: StoreKind.planning)
    func `A rare pattern is found by the index, a frequent one by a scan, and explain says so`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: NoteStack.model())
        for number in 0..<3000 {
            stack.insert("Note", ["number": number, "text": number % 500 == 7 ? "a zebra \(number)" : "some horse \(number)", "name": "n\(number % 10)"])
        }
        try stack.context.save()
        func plan(_ format: String, sort: String? = nil, limit: Int = 0) throws -> FetchPlan {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.includesSubentities = false
            request.predicate = NSPredicate(format: format)
            request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
            request.fetchLimit = limit
            return try stack.context.explain(request)
        }
        let rare = try plan("text CONTAINS[cd] 'Zébra'")
        #expect(rare.parts[0].access == .index("index:byText") && rare.rowsMatched == 6 && rare.rowsVisited == 6)
        #expect(try plan("text LIKE 'a z*7'").parts[0].access == .index("index:byText"))
        #expect(try plan("text MATCHES '.* zebra [0-9]+'").rowsVisited == 6)
        #expect(try plan("text ENDSWITH '07'").rowsVisited < 60)
        #expect(try plan("text CONTAINS 'some'").parts[0].access == .scan)
        #expect(try plan("number < 1000 AND text CONTAINS 'zebra'").rowsVisited == 6)
        #expect(try plan("text CONTAINS 'zebra' OR text ENDSWITH ' 55'").parts[0].access == .union([.index("index:byText"), .index("index:byText")]))
        // Many matches: the index of the order finds the first ones soonest.
        let ordered = try plan("text CONTAINS 'horse'", sort: "name", limit: 5)
        #expect(ordered.parts[0].access == .index("index:byName") && ordered.rowsVisited < 20)
        #expect(try plan("text CONTAINS 'zebra'", sort: "name", limit: 5).parts[0].access == .index("index:byText"))
        // The rows of a frequent prefix are not collected to find the first few.
        func typed(_ prefix: String) throws -> FetchPlan {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.includesSubentities = false
            request.textSearch = TextSearch(prefix, in: ["text"], matchesLastWordAsPrefix: true)
            request.fetchLimit = 5
            return try stack.context.explain(request)
        }
        let letter = try typed("h")
        #expect(letter.parts[0].access == .scan && letter.rowsMatched == 5 && letter.rowsVisited < 20)
        let word = try typed("ze")
        #expect(word.parts[0].access == .index("index:byText") && word.rowsMatched == 5 && word.rowsVisited == 5)
        // An attribute that a mark in its userInfo indexes.
        stack.insert("Note", ["title": "Unique title", "number": 1])
        try stack.context.save()
        #expect(try plan("title CONTAINS[c] 'unique'").parts[0].access == .index("index:text:title"))
    }

    @Test
    func `A model that gets a text index later builds it in the background; one that loses it drops it`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        var kept: [(TestStack, Data)] = []
        for (round, isIndexed) in [false, true, false].enumerated() {
            let stack = try TestStack(.recordLog, model: NoteStack.model(isIndexed: isIndexed), at: url)
            stack.store.indexing.wait()
            #expect(stack.persistentStore.indexingError == nil)
            if round == 0 {
                for number in 0..<500 { stack.insert("Note", ["number": number, "text": "number \(number)"]) }
                try stack.context.save()
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "text CONTAINS '499'")
            let plan = try stack.context.explain(request)
            #expect(plan.rowsMatched == 1 && plan.parts[0].access == (isIndexed ? .index("index:byText") : .scan))
            for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
            let copy = try Data(contentsOf: url)
            if isIndexed { #expect(try entries(url) == entries(url, rebuilds: true)) }
            kept.append((stack, copy))
        }
        // The stacks remove the file when they go.
        #expect(kept.count == 3)
    }

    @Test(arguments: StoreKind.planning)
    func `A partial text index serves the fetches that imply its condition`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: NoteStack.model(partial: "number >= 100"))
        for number in 0..<1000 { stack.insert("Note", ["number": number, "text": "word\(number) x"]) }
        try stack.context.save()
        func access(_ format: String) throws -> FetchPlan.Access {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: format)
            let plan = try stack.context.explain(request)
            #expect(plan.rowsMatched == (try QueryTuning.with(QueryTuning(access: .scan)) { try stack.context.count(for: request) }))
            return plan.parts[0].access
        }
        #expect(try access("number >= 100 AND text CONTAINS 'd55'") == .index("index:byText"))
        #expect(try access("text CONTAINS 'd55'") == .scan)
    }

    @Test
    func `A text index over something else is left out, and fetches scan`() throws {
        let model = NoteStack.model(isIndexed: false)
        let note = try #require(model.entitiesByName["Note"])
        func element(_ name: String, _ type: NSFetchIndexElementType) -> NSFetchIndexElementDescription {
            NSFetchIndexElementDescription(property: note.propertiesByName[name] ?? NSPropertyDescription(), collationType: type)
        }
        note.indexes = [
            NSFetchIndexDescription(name: "byNumber", elements: [element("number", .text)]),
            NSFetchIndexDescription(name: "mixed", elements: [element("text", .text), element("number", .binary)]),
        ]
        note.propertiesByName["number"]?.userInfo = ["com.heartwood.textIndex": "YES"]
        let stack = try TestStack(.recordLog, model: model)
        stack.insert("Note", ["number": 1, "text": "abc"])
        try stack.context.save()
        #expect(try NoteStack.numbers(stack, NSPredicate(format: "text CONTAINS 'b'")) == [1])
        #expect(try stack.store.log!.snapshot().catalog.indexes(on: #require(stack.store.log!.snapshot().catalog.table(named: "Note")).id).isEmpty)
    }

    @Test(arguments: StoreKind.planning)
    func `Texts that are too long for terms are found`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: NoteStack.model())
        for number in 0..<200 { stack.insert("Note", ["number": number, "text": "short \(number)"]) }
        let filler = String(repeating: "lorem ipsum ", count: 30_000)
        stack.insert("Note", ["number": 1000, "text": filler + "needle"])
        try stack.context.save()
        stack.insert("Note", ["number": 1001, "text": "a needle"])
        try stack.context.save()
        #expect(try NoteStack.numbers(stack, NSPredicate(format: "text CONTAINS[c] 'NEEDLE'")).sorted() == [1000, 1001])
        #expect(try NoteStack.numbers(stack, NSPredicate(format: "text ENDSWITH 'm needle' AND number > 5")) == [1000])
        for search in [TextSearch("needle", in: ["text"]), TextSearch("NEED", in: ["text"], matchesLastWordAsPrefix: true)] {
            #expect(Set(try NoteStack.numbers(stack, nil, search: search)) == [1000, 1001])
        }
        #expect(try NoteStack.numbers(stack, nil, search: TextSearch("lorem needle", in: ["text"])) == [1000])
    }
}
