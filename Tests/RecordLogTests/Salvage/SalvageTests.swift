import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// A store with a history, a copy of its bytes to damage, and the expected content.
final class DamagedSample {
    static let newPath = "new.heartwood"

    let sample: SampleStore
    /// Every version that each row ever had.
    private(set) var history: [UInt64: [SampleStore.Person]] = [:]
    var bytes: [UInt8] = []

    init(durability: Durability = .full) throws {
        sample = try SampleStore(hasTerms: true) {
            $0.durability = durability
            $0.segmentShift = 16
        }
    }

    func write(author: String? = nil, _ changes: [UInt64: SampleStore.Person?], inserting new: [SampleStore.Person] = []) throws {
        var people = sample.people
        try sample.store.write(author: author) { transaction in
            for (row, person) in changes.sorted(by: { $0.key < $1.key }) {
                if let person { try sample.put(transaction, row, person) } else { _ = try transaction.delete(sample.reference(row)) }
                people[row] = person
            }
            for person in new {
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, person)
                people[row] = person
            }
        }
        sample.people = people
        for (row, person) in people where history[row]?.last != person { history[row, default: []].append(person) }
    }

    /// Copies the file's bytes.
    func take() { bytes = (sample.fileSystem as! MemoryFileSystem).contents(of: SampleStore.path)! }

    func damage(_ range: Range<UInt64>, with value: UInt8? = nil) {
        for at in range where at < bytes.count { bytes[Int(at)] = value ?? bytes[Int(at)] ^ 0x5A }
    }

    /// The frame with a row's newest record.
    func frame(of row: UInt64) throws -> Range<UInt64> {
        let snapshot = sample.store.snapshot()
        let address = try #require(try snapshot.address(of: sample.reference(row)))
        let start = address - UInt64(try snapshot.file.record(at: address, end: snapshot.end).record.distance)
        return start..<(try #require(try snapshot.file.frame(at: start, limit: snapshot.end))).end
    }

    func frames(_ kinds: FrameKind...) throws -> [LogFile.Frame] {
        var found: [LogFile.Frame] = []
        try StoreInspector(store: sample.store).forEachFrame(upTo: sample.store.log.end) {
            if kinds.contains($0.header.kind) { found.append($0) }
        }
        return found
    }

    struct Outcome {
        let report: StoreSalvage
        let fileSystem: MemoryFileSystem
        let store: LogStore
        let people: [UInt64: SampleStore.Person]
    }

    /// Salvages the bytes; checks that the new store is sound and the damaged one unchanged.
    func salvage(_ message: String = "", maps: Bool = true, sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        let fileSystem = MemoryFileSystem()
        fileSystem.setContents(of: SampleStore.path, to: bytes)
        var options = sample.options
        options.fileSystem = fileSystem
        options.usesMemoryMapping = maps
        let report = try StoreSalvage.salvage(path: SampleStore.path, to: Self.newPath, options: options)
        #expect(fileSystem.contents(of: SampleStore.path) == bytes, "\(message)", sourceLocation: sourceLocation)
        #expect(try fileSystem.identity(of: Self.newPath + ".salvaging") == nil, sourceLocation: sourceLocation)
        let verified = try StoreVerification.verify(path: Self.newPath, fileSystem: fileSystem)
        #expect(verified.isSound, "\(message): \(verified)", sourceLocation: sourceLocation)
        let store = try LogStore.open(path: Self.newPath, options: options)
        var people: [UInt64: SampleStore.Person] = [:]
        if store.snapshot().catalog.table(named: "Person") != nil {
            people = try sample.contents(store.snapshot())
            try sample.check(store.snapshot(), people, sourceLocation: sourceLocation)
        }
        #expect(report.rows == people.count, "\(message)", sourceLocation: sourceLocation)
        return Outcome(report: report, fileSystem: fileSystem, store: store, people: people)
    }
}

func person(_ name: String, _ age: Int64 = 1) -> SampleStore.Person { .init(name: name, age: age, group: 1) }

@Suite struct SalvageTests {
    /// Insertions, changes, deletions, a compaction, a checkpoint and later commits.
    private func example() throws -> DamagedSample {
        let made = try DamagedSample()
        try made.write([:], inserting: (0..<40).map { person("first \($0)") })
        try made.write([3: person("changed"), 4: nil, 5: nil])
        _ = try made.sample.store.compact()
        try made.write([6: nil, 7: person("changed again")], inserting: [person("new")])
        try made.sample.store.write { try $0.setSystemValue(20, [1, 2, 3]) }
        try made.sample.store.checkpoint()
        try made.write([8: person("behind"), 9: nil], inserting: [person("newest")])
        made.take()
        return made
    }

    @Test
    func `A sound store is salvaged completely`() throws {
        let made = try example()
        let outcome = try made.salvage()
        let report = outcome.report, old = made.sample.store.snapshot(), new = outcome.store.snapshot()
        #expect(report.isComplete && report.tail == .clean && report.damage.isEmpty && report.missingCommits.isEmpty, "\(report)")
        #expect(outcome.people == made.sample.people)
        #expect(outcome.store.storeID == made.sample.store.storeID)
        #expect(try new.unsafeSystemValue(20)?.elementsEqual([1, 2, 3]) == true)
        #expect(report.systemValues == 1)
        for row in outcome.people.keys {
            let reference = made.sample.reference(row)
            #expect(try new.unsafeRow(reference)?.version == (try old.unsafeRow(reference)?.version))
        }
        // No number is used twice, not even that of a deleted last row.
        try made.write([made.sample.people.keys.max()!: nil])
        made.take()
        let again = try made.salvage()
        #expect(again.store.snapshot().state(made.sample.table.id)?.nextRow == made.sample.store.snapshot().state(made.sample.table.id)?.nextRow)
    }

    @Test
    func `An empty store is salvaged as an empty store`() throws {
        let fileSystem = MemoryFileSystem()
        var options = StoreOptions()
        options.fileSystem = fileSystem
        try LogStore.open(path: "empty", options: options).close()
        let report = try StoreSalvage.salvage(path: "empty", to: "new", options: options)
        #expect(report.isComplete && report.rows == 0 && report.tables.isEmpty)
        #expect(try StoreVerification.verify(path: "new", fileSystem: fileSystem).isSound)
    }

    /// For damage to any range: each row whose newest record is whole comes out as it was, no row has a value that it never had, and if the
    /// report says that nothing is lost, nothing is.
    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func `Undamaged rows are salvaged wherever the damage is`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let made = try DamagedSample(durability: seed % 5 == 0 ? .relaxed : .full)
        for step in 0..<Int.random(in: 4...14, using: &random) {
            var changes: [UInt64: SampleStore.Person?] = [:]
            for row in made.sample.people.keys.sorted() where Int.random(in: 0..<8, using: &random) == 0 {
                changes[row] = Bool.random(using: &random) ? .some(nil) : SampleStore.Person.draw(.short, &random)
            }
            let isLarge = Int.random(in: 0..<6, using: &random) == 0
            try made.write(changes, inserting: (0..<Int.random(in: 1...12, using: &random)).map { _ in
                isLarge ? person("\(random.next()) \(String(repeating: "l", count: 3000))") : SampleStore.Person.draw(.short, &random)
            })
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try made.sample.store.checkpoint()
            case 1 where step > 2: _ = try made.sample.store.compact()
            default: break
            }
        }
        let end = made.sample.store.log.end
        made.take()
        var damaged: [Range<UInt64>] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let start = UInt64.random(in: FileFormat.dataStart..<end, using: &random)
            let range = start..<min(end, start + UInt64([1, 60, 700, 5000].randomElement(using: &random)!))
            made.damage(range, with: Bool.random(using: &random) ? 0 : nil)
            damaged.append(range)
        }
        let isSuperblockLost = Bool.random(using: &random)
        if isSuperblockLost { made.damage(FileFormat.superblockOffsets[0]..<FileFormat.superblockOffsets[0] + 100) }
        // A zeroed commit at the log's end leaves no trace if the superblock that named it is destroyed too.
        func isTraceless(_ frame: LogFile.Frame) -> Bool { isSuperblockLost && made.bytes[Int(frame.offset)..<Int(end)].allSatisfy { $0 == 0 } }
        let outcome: DamagedSample.Outcome
        do {
            outcome = try made.salvage("seed \(seed)", maps: seed % 3 != 0)
        } catch let error as StoreError {
            // The only frame with the catalog, which the first commit has.
            let first = try made.frames(.commit, .rows)[0]
            #expect(error.message.contains("catalog") && damaged.contains { $0.overlaps(first.offset..<first.end) }, "seed \(seed): \(error)")
            return
        }
        let report = outcome.report
        // A picture that lacks a part is listed, and its row comes out without it.
        func withoutLostPicture(_ row: UInt64, _ person: SampleStore.Person) -> SampleStore.Person {
            guard report.lostValues.contains(where: { $0.reference.row == row }) else { return person }
            return .init(name: person.name, age: person.age, group: person.group)
        }
        let isTailCertain = report.tail != .uncertain
        for (row, wanted) in made.sample.people {
            let frame = try made.frame(of: row)
            guard !damaged.contains(where: { $0.overlaps(frame) }), isTailCertain else { continue }
            #expect(outcome.people[row] == withoutLostPicture(row, wanted), "seed \(seed), row \(row), \(damaged), \(report)")
        }
        for (row, found) in outcome.people {
            let versions = made.history[row]?.map { withoutLostPicture(row, $0) }
            #expect(versions?.contains(found) == true, "seed \(seed), row \(row)")
        }
        let all = try made.frames(.rows, .commit)
        if report.isComplete, !all.contains(where: isTraceless) {
            #expect(outcome.people == made.sample.people, "seed \(seed), \(damaged), \(report)")
        }
        let frames = all.filter { frame in !isTraceless(frame) && damaged.contains { $0.overlaps(frame.offset..<frame.end) } }
        for frame in frames where Array(UnsafeRawBufferPointer(start: frame.pointer, count: Int(frame.header.length)))
            != Array(made.bytes[Int(frame.offset)..<Int(frame.end)]) {
            #expect(report.damage.contains { ($0.offset..<$0.end).overlaps(frame.offset..<frame.end) }, "seed \(seed)")
            #expect(!report.isComplete, "seed \(seed), \(report)")
        }
    }

    @Test
    func `A file cut anywhere gives the rows before the cut`() throws {
        let made = try example()
        let whole = made.bytes
        let end = Int(made.sample.store.log.end)
        for length in stride(from: end, to: Int(FileFormat.dataStart), by: -520) {
            made.bytes = Array(whole[..<length])
            do {
                let outcome = try made.salvage("cut at \(length)")
                for (row, found) in outcome.people { #expect(made.history[row]?.contains(found) == true, "cut at \(length)") }
                #expect(outcome.report.isComplete == (length == end), "cut at \(length): \(outcome.report)")
            } catch let error as StoreError {
                #expect(error.message.contains("catalog"), "cut at \(length): \(error)")
            }
        }
    }

    /// After a power failure at any operation a salvage finds the same state as an opening, and reports no loss.
    @Test
    func `A crashed store is salvaged as it would be opened`() throws {
        func run(_ fileSystem: SimulatedFileSystem) throws {
            let sample = try SampleStore(fileSystem: fileSystem) { $0.segmentShift = 16 }
            for number in 0..<3 {
                try sample.insert(person(String(repeating: "p", count: number * 400), Int64(number)))
                if number == 1 { try sample.store.checkpoint() }
            }
            try sample.store.write { transaction in
                for row in 1...3 as ClosedRange<UInt64> {
                    try sample.put(transaction, row, person("\(row) \(String(repeating: "x", count: 7000))"))
                }
                _ = try transaction.delete(sample.reference(2))
            }
            _ = try sample.store.compact()
            try sample.insert(person("last"))
        }
        let whole = SimulatedFileSystem()
        try run(whole)
        for operation in 0...whole.operations.count {
            let fileSystem = SimulatedFileSystem()
            fileSystem.fail(at: operation)
            try? run(fileSystem)
            let image = fileSystem.afterPowerLoss(seed: UInt64(operation))
            var options = StoreOptions()
            options.fileSystem = image
            let salvaged: StoreSalvage
            do {
                salvaged = try StoreSalvage.salvage(path: SampleStore.path, to: "new", options: options)
            } catch {
                // No file, or one without an acknowledged commit.
                let isNothing = try error.code == .notFound || LogStore.open(path: SampleStore.path, options: options).snapshot().sequence == 0
                #expect(isNothing, "operation \(operation): \(error)")
                continue
            }
            #expect(salvaged.isComplete || salvaged.tail == .uncertain, "operation \(operation): \(salvaged)")
            let opened = try SampleStore(fileSystem: image), new = try SampleStore(fileSystem: image, path: "new")
            #expect(try new.contents(new.store.snapshot()) == opened.contents(opened.store.snapshot()), "operation \(operation)")
        }
    }

    // MARK: Header

    @Test
    func `One copy of the identity is enough`() throws {
        let made = try example()
        let whole = made.bytes
        for spared in FileFormat.identityOffsets {
            made.bytes = whole
            let identity = spared..<spared + UInt64(FileIdentity.Layout.size)
            made.damage(0..<spared, with: 0xEE)
            made.damage(identity.upperBound..<FileFormat.dataStart, with: 0xEE)
            let outcome = try made.salvage()
            #expect(outcome.people == made.sample.people)
            #expect(outcome.report.isComplete && outcome.report.damageCount == 3, "\(outcome.report)")
        }
    }

    @Test
    func `Without an identity the salvage reports that nothing can be verified`() throws {
        let made = try example()
        for offset in FileFormat.identityOffsets { made.damage(offset..<offset + 64, with: 0) }
        let error = #expect(throws: StoreError.self) { try made.salvage() }
        #expect(error?.code == .corrupt && error?.message.contains("verified") == true && error?.remedy.contains("backup") == true)
        made.bytes = Array("hello".utf8)
        #expect(#expect(throws: StoreError.self) { try made.salvage() }?.code == .notAStore)
        made.bytes = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 1, count: 6000)
        #expect(#expect(throws: StoreError.self) { try made.salvage() }?.message.contains("SQLite") == true)
    }

    // MARK: Commits that are not whole

    /// A commit of several frames, after a published one.
    private func large(_ durability: Durability = .full) throws -> DamagedSample {
        let made = try DamagedSample(durability: durability)
        try made.write([:], inserting: (0..<30).map { person("old \($0)") })
        let filler = String(repeating: "f", count: 8000)
        try made.write(Dictionary(uniqueKeysWithValues: (1...30 as ClosedRange<UInt64>).map { ($0, person("new \($0) \(filler)")) }))
        return made
    }

    /// An unfinished write was never acknowledged: it hides nothing, and does not count as a loss.
    @Test
    func `An unfinished write hides no older version`() throws {
        let made = try large()
        made.take()
        let before = try DamagedSample()
        try before.write([:], inserting: (0..<30).map { person("old \($0)") })
        // Simulates a power failure while the large commit was written: its footer and superblock are missing.
        let commits = try made.frames(.commit)
        let last = try #require(commits.last), stands = commits[commits.count - 2]
        made.damage(last.offset..<UInt64(made.bytes.count), with: 0)
        for generation in 0..<2 {
            var superblock = made.sample.store.log.superblock
            superblock.generation -= UInt64(generation)
            superblock.sequence = stands.header.sequence - UInt64(generation)
            superblock.end = stands.end
            superblock.durableSequence = superblock.sequence
            superblock.durableEnd = superblock.end
            let at = Int(FileFormat.superblockOffsets[Int(superblock.generation % 2)])
            let encoded = superblock.encoded(fileID: made.sample.store.log.file.identity.fileID)
            made.bytes.replaceSubrange(at..<at + Superblock.Layout.size, with: encoded)
        }
        let outcome = try made.salvage()
        #expect(outcome.people == before.sample.people)
        #expect(outcome.report.isComplete && outcome.report.tail == .unfinished, "\(outcome.report)")
        #expect(outcome.report.incompleteCommits.map(\.isTaken) == [false])
        // Without the superblock, an unfinished write looks like an acknowledged one.
        made.damage(FileFormat.superblockOffsets[0]..<FileFormat.superblockOffsets[0] + 512)
        let doubtful = try made.salvage()
        #expect(doubtful.people == before.sample.people)
        #expect(!doubtful.report.isComplete && doubtful.report.tail == .uncertain)
    }

    /// A superblock, a later commit or a checkpoint proves that a commit had been completed; its remaining rows are salvaged.
    @Test(arguments: ["superblock", "commit", "checkpoint"])
    func `Rows of an acknowledged commit without its footer are salvaged`(evidence: String) throws {
        let made = try large()
        let footer = try #require(try made.frames(.commit).last)
        let inFooter = try made.sample.people.keys.filter { try made.frame(of: $0).lowerBound == footer.offset }
        if evidence == "commit" { try made.write([:], inserting: [person("later")]) }
        if evidence == "checkpoint" { try made.sample.store.checkpoint() }
        made.take()
        made.damage(footer.offset + 40..<footer.offset + 50)
        if evidence != "superblock" { for superblock in FileFormat.superblockOffsets { made.damage(superblock..<superblock + 512) } }
        let outcome = try made.salvage()
        #expect(!inFooter.isEmpty)
        for (row, wanted) in made.sample.people where !inFooter.contains(row) { #expect(outcome.people[row] == wanted) }
        for row in inFooter { #expect(outcome.people[row] == made.history[row]?.first) }
        let report = outcome.report
        #expect(!report.isComplete && report.missingCommits == [footer.header.sequence...footer.header.sequence])
        #expect(report.incompleteCommits == [
            .init(sequence: footer.header.sequence, rowsStated: nil, rowsFound: 30 - inFooter.count, isTaken: true),
        ])
        #expect(report.tables[0].fromIncompleteCommits == 30 - inFooter.count)
        #expect(report.tables[0].older == (evidence == "checkpoint" ? inFooter.count : 0))
    }

    @Test
    func `A commit that lacks a frame gives its other rows`() throws {
        let made = try large()
        let lost = try #require(try made.frames(.rows).first)
        made.take()
        made.damage(lost.offset + 1000..<lost.offset + 1001)
        let outcome = try made.salvage()
        var count = 0
        for (row, wanted) in made.sample.people {
            let isLost = try made.frame(of: row).lowerBound == lost.offset
            count += isLost ? 1 : 0
            #expect(outcome.people[row] == (isLost ? made.history[row]?.first : wanted))
        }
        let commit = try #require(outcome.report.incompleteCommits.first)
        #expect(commit.rowsStated == 30 && commit.rowsFound == 30 - count && commit.isTaken && count > 0)
        #expect(outcome.report.missingCommits.isEmpty && !outcome.report.isComplete)
    }
}
