import Foundation
import HeartwoodTestSupport
import RecordLog
import Testing

@testable import Heartwood

/// Searches for words: what is a word, what matches, and in which order.
@Suite struct TextSearchTests {
    private func words(_ text: String) -> [String] {
        let terms = TextTerms(wantsTrigrams: false)
        Array(text.utf8).withUnsafeBytes { terms.read($0) }
        var result: [String] = []
        for word in terms.words.words { result.append(String(decoding: terms.words.bytes(of: word), as: UTF8.self)) }
        return result
    }

    @Test(arguments: [
        ("", []), ("...", []), ("Don't stop", ["don", "t", "stop"]), ("Éclair e\u{301}clair", ["eclair"]), ("Straße STRASSE", ["strasse"]),
        ("ΟΔΥΣΣΕΥΣ οδυσσευς", ["οδυσσευσ"]), ("x-ray 42", ["x", "ray", "42"]), ("東京都", ["東京", "京都", "都"]), ("東", ["東"]),
        ("abc東京def", ["abc", "東京", "京", "def"]), ("co\u{AD}op", ["coop"]), ("a\u{200B}b", ["a", "b"]), ("IŞIK ışık", ["isik"]),
    ] as [(String, [String])])
    func `Words are runs of letters and digits, and pairs of letters in scripts without spaces`(text: String, expected: [String]) {
        #expect(words(text) == expected)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `The two readers of words find the same`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let text = NastyText.text(NastyText.letters, 10, &random)
            var found: [String] = []
            for word in FoundWord.all(in: text) {
                let bytes = String(decoding: word.bytes, as: UTF8.self)
                if !found.contains(where: { $0.hasSameBytes(as: bytes) }) { found.append(bytes) }
            }
            #expect(Set(words(text).map(ExactText.init)) == Set(found.map(ExactText.init)), "seed \(seed): \(text.debugDescription)")
        }
    }

    private static let texts: [String?] = [
        nil, "", "The quick brown fox", "the lazy dog and the fox", "fox fox fox", "A foxglove grows", "Ein schöner Fuchs", "東京都の天気", "京都の天気",
        "quick quick dog", "one two three four five six seven eight nine ten fox", "Dog. Fox! Quick?",
    ]

    private func stack(_ kind: StoreKind, isIndexed: Bool) throws -> TestStack {
        let stack = try TestStack(kind, model: NoteStack.model(isIndexed: isIndexed))
        for (number, text) in Self.texts.enumerated() {
            let note = stack.insert(number % 4 == 3 ? "Memo" : "Note", ["number": number, "name": "n\(20 - number)"])
            note.setValue(text, forKey: "text")
            note.setValue(number % 2 == 0 ? "dog" : "Cat", forKey: "title")
        }
        try stack.context.save()
        return stack
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `All words must occur; the last one may be a prefix`(kind: StoreKind, isIndexed: Bool) throws {
        let stack = try stack(kind, isIndexed: isIndexed)
        func found(_ text: String, prefix: Bool = false, _ attributes: [String] = ["text"], _ format: String? = nil) throws -> [Int] {
            let search = TextSearch(text, in: attributes, matchesLastWordAsPrefix: prefix)
            return try NoteStack.numbers(stack, format.map { NSPredicate(format: $0) }, search: search).sorted()
        }
        #expect(try found("fox") == [2, 3, 4, 10, 11])
        #expect(try found("FOX quick") == [2, 11])
        #expect(try found("fox", prefix: true) == [2, 3, 4, 5, 10, 11])
        #expect(try found("quick fo", prefix: true) == [2, 11])
        #expect(try found("fo") == [])
        #expect(try found("schoner") == [6] && found("SCHÖNER fuchs") == [6])
        #expect(try found("京都") == [7, 8] && found("東京") == [7] && found("京") == [7, 8] && found("都京") == [])
        #expect(try found("") == Array(0..<12) && found("...") == Array(0..<12))
        #expect(try found("dog", ["text", "title"]) == [0, 2, 3, 4, 6, 8, 9, 10, 11])
        #expect(try found("cat fox", ["text", "title"]) == [3, 11] + [] && found("dog fox", ["text", "title"]) == [2, 3, 4, 10, 11])
        #expect(try found("fox", ["text"], "number > 3 AND number < 11") == [4, 10])
        #expect(try NoteStack.numbers(stack, NSPredicate(format: "number < 100"), limit: 2, search: TextSearch("fo", in: ["text"], matchesLastWordAsPrefix: true)).count == 2)
    }

    // An incremental store gives objects of the same relevance in an order of its own.
    @Test(arguments: StoreKind.planning)
    func `Index, scan and memory give one order by relevance`(kind: StoreKind) throws {
        let indexed = try stack(kind, isIndexed: true), plain = try stack(kind, isIndexed: false)
        for text in ["fox", "fox dog", "the fox", "quick", "dog fo", "天気", "京都 天気"] {
            for attributes in [["text"], ["text", "title"]] {
                let search = TextSearch(text, in: attributes, matchesLastWordAsPrefix: text == "dog fo")
                let order = try NoteStack.numbers(indexed, nil, search: search)
                #expect(try NoteStack.numbers(plain, nil, search: search) == order, "\(text) in \(attributes)")
                for limit in [1, 2, 3] { #expect(try NoteStack.numbers(indexed, nil, limit: limit, search: search) == Array(order.prefix(limit))) }
                // A pending change of another object moves the fetch to memory.
                let pending = plain.insert("Note", ["number": 99, "text": "unrelated"])
                let counted = indexed.insert("Note", ["number": 99, "text": "unrelated"])
                #expect(try NoteStack.numbers(plain, nil, search: search) == NoteStack.numbers(indexed, nil, search: search))
                plain.context.delete(pending)
                indexed.context.delete(counted)
            }
        }
        // More occurrences and shorter texts come first.
        #expect(try NoteStack.numbers(indexed, nil, search: TextSearch("fox", in: ["text"])).first == 4)
        #expect(try NoteStack.numbers(indexed, nil, search: TextSearch("fox", in: ["text"])).last == 10)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.textSearch = TextSearch("fox", in: ["text"], sortsByRelevance: false)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        #expect(try indexed.context.fetch(request).map { $0.value(forKey: "number") as? Int } == [10, 4, 3, 2, 11])
        #expect(try indexed.context.count(for: request) == 5)
    }

    @Test(arguments: [5, 6] as [UInt64])
    func `Random notes come in the same order from an index and a scan, whatever the words`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let indexed = try TestStack(.recordLog, model: NoteStack.model()), plain = try TestStack(.inMemory, model: NoteStack.model(isIndexed: false))
        let vocabulary = ["a", "ab", "abc", "b", "bc", "b\u{E4}", "x", "y", "漢", "字", "ῥόδον"]
        for number in 0..<400 {
            let text = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                vocabulary[min(Int.random(in: 0..<11, using: &random), Int.random(in: 0..<11, using: &random))]
            }.joined(separator: " ")
            for stack in [indexed, plain] { stack.insert(number % 3 == 0 ? "Memo" : "Note", ["number": number, "text": text, "title": "t ab"]) }
            if number == 150 || number == 390 {
                for stack in [indexed, plain] { try stack.context.save() }
                if number == 150 { try indexed.store.log!.checkpoint() }
            }
        }
        for stack in [indexed, plain] {
            for note in try stack.fetch("Note", "number IN {3, 77, 200}") { stack.context.delete(note) }
            for note in try stack.fetch("Note", "number IN {4, 78, 201}") { note.setValue("abc abc b", forKey: "text") }
            try stack.context.save()
        }
        for _ in 0..<60 {
            let text = (0..<Int.random(in: 1...3, using: &random)).map { _ in vocabulary.randomElement(using: &random) ?? "a" }.joined(separator: " ")
            let search = TextSearch(
                text, in: Bool.random(using: &random) ? ["text"] : ["text", "title"], matchesLastWordAsPrefix: Bool.random(using: &random))
            let predicate = Bool.random(using: &random) ? NSPredicate(format: "number < 250") : nil
            let limit = [0, 1, 10].randomElement(using: &random) ?? 0
            #expect(
                try NoteStack.numbers(indexed, predicate, limit: limit, search: search) == NoteStack.numbers(plain, predicate, limit: limit, search: search),
                "seed \(seed): \(search)")
        }
    }

    @Test
    func `The places of the words are found for highlighting`() {
        func marked(_ text: String, _ search: TextSearch) -> [String] { search.ranges(in: text).map { String(text[$0]) } }
        #expect(marked("The Éclair, the e\u{301}clair.", TextSearch("eclair")) == ["Éclair", "e\u{301}clair"])
        #expect(marked("foxes fox", TextSearch("fox", matchesLastWordAsPrefix: true)) == ["foxes", "fox"])
        #expect(marked("foxes fox", TextSearch("fox")) == ["fox"])
        #expect(marked("東京都の", TextSearch("東京都")) == ["東京都"])
        #expect(marked("", TextSearch("a")) == [] && marked("a", TextSearch("")) == [])
    }

    @Test
    func `A search of an attribute that is no text fails with a reason`() throws {
        let stack = try stack(.inMemory, isIndexed: true)
        for name in ["number", "unknown", "text.length"] {
            let error = #expect(throws: NSError.self) { try NoteStack.numbers(stack, nil, search: TextSearch("a", in: [name])) }
            #expect(error?.localizedDescription.contains(name) == true)
        }
    }
}
