import Foundation
import HeartwoodTestSupport
import Synchronization
import Testing

@testable import RecordLog

/// Commits of many pieces, which threads write while later pieces are made.
@Suite struct BackgroundWriteTests {
    /// A file system with slow or failing large writes.
    private final class Disk: ForwardingFileSystem, @unchecked Sendable {
        enum Trouble {
            case none, slow
            case failing(after: Int, StoreError.Code)
        }

        private let trouble = Mutex<Trouble>(.none)
        let threads = Mutex<Set<ObjectIdentifier>>([])
        /// The ranges announced for an early sync since the last look.
        let announced = Mutex<[Range<UInt64>]>([])

        init() { super.init(MemoryFileSystem()) }

        func set(_ new: Trouble) { trouble.withLock { $0 = new } }

        /// Called before each write.
        private func meet(at offset: UInt64) throws(StoreError) {
            let thread = ObjectIdentifier(Thread.current)
            threads.withLock { _ = $0.insert(thread) }
            var isSlow = false
            let code: StoreError.Code? = trouble.withLock { trouble in
                switch trouble {
                case .none: return nil
                case .slow:
                    isSlow = true
                    return nil
                case .failing(let after, let code):
                    trouble = .failing(after: after - 1, code)
                    return after <= 0 ? code : nil
                }
            }
            // A slow disk, so that writes wait for each other.
            if isSlow { usleep(300) }
            if let code { throw StoreError(code, path: SampleStore.path, at: offset, "the disk failed", remedy: "Another disk.") }
        }

        override func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile { File(try super.open(path, mode), self) }

        private final class File: ForwardingFile, @unchecked Sendable {
            private let disk: Disk

            init(_ file: any StorageFile, _ disk: Disk) {
                self.disk = disk
                super.init(file)
            }

            override var writesBehind: Bool { true }

            override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
                try disk.meet(at: offset)
                try super.write(bytes, at: offset)
            }

            override func willSync(_ range: Range<UInt64>) {
                #expect((try? size()) ?? 0 >= range.upperBound, "nothing is announced that is not written")
                disk.announced.withLock { $0.append(range) }
            }
        }
    }

    private struct Stop: Error {}

    /// Rows of a transaction are read back and changed while their bytes are being written; some transactions are abandoned.
    @Test(arguments: [1, 2, 3] as [UInt64], [true, false])
    func `Rows that are being written are read and changed`(seed: UInt64, maps: Bool) throws {
        let disk = Disk()
        let sample = try SampleStore(fileSystem: disk) {
            $0.flushSize = 3000
            $0.usesMemoryMapping = maps
            $0.durability = .none
        }
        disk.set(.slow)
        var random = SeededGenerator(seed: seed)
        for round in 0..<12 {
            var people = sample.people
            let isKept = Int.random(in: 0..<3, using: &random) > 0
            do {
                try sample.store.write { transaction in
                    for _ in 0..<150 {
                        let picture = Int.random(in: 0..<8, using: &random) == 0 ? SampleStore.Picture.random(&random) : nil
                        let person = SampleStore.Person(
                            name: String(repeating: "n", count: Int.random(in: 0...80, using: &random)),
                            age: Int64.random(in: 0...99, using: &random),
                            group: 1, picture: picture)
                        switch Int.random(in: 0..<4, using: &random) {
                        case 0 where !people.isEmpty:
                            let row = people.keys.sorted().randomElement(using: &random) ?? 0
                            let reference = RowReference(table: sample.table.id, row: row)
                            let view = try #require(try transaction.unsafeRow(reference))
                            #expect(try sample.person(view, transaction.value) == people[row], "seed \(seed), round \(round)")
                        case 1 where !people.isEmpty:
                            let row = people.keys.sorted().randomElement(using: &random) ?? 0
                            try sample.put(transaction, row, person)
                            people[row] = person
                        default:
                            let row = try transaction.newRow(in: sample.table.id)
                            try sample.put(transaction, row, person)
                            people[row] = person
                        }
                    }
                    guard isKept else { throw Stop() }
                }
                sample.people = people
            } catch is Stop {}
            try sample.check(sample.store.snapshot(), sample.people)
        }
        #expect(disk.threads.withLock { $0.count } > 1, "no other thread has written")
        try sample.store.close()
        #expect(try StoreVerification.verify(path: SampleStore.path, fileSystem: disk).isSound)
    }

    @Test
    func `A piece without room ends only its transaction`() throws {
        let disk = Disk()
        let sample = try SampleStore(fileSystem: disk) { $0.flushSize = 3000 }
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        for after in 0..<6 {
            disk.set(.failing(after: after, .noSpace))
            let error = #expect(throws: StoreError.self) { try fill(sample) }
            #expect(error?.code == .noSpace)
            disk.set(.none)
            try sample.check(sample.store.snapshot(), sample.people)
            try sample.insert(.init(name: "after \(after)", age: 2, group: 1))
        }
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    @Test
    func `A failed piece poisons the handle`() throws {
        let disk = Disk()
        let sample = try SampleStore(fileSystem: disk) { $0.flushSize = 3000 }
        try sample.insert(.init(name: "kept", age: 1, group: 1))
        disk.set(.failing(after: 2, .io))
        #expect(throws: StoreError.self) { try fill(sample) }
        disk.set(.none)
        let error = #expect(throws: StoreError.self) { try sample.insert(.init(name: "lost", age: 1, group: 1)) }
        #expect(error?.message.contains("the disk failed") == true)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// A mapped file has nothing to read behind its end: a transaction that continues gets the same error again.
    @Test(arguments: [true, false], [.noSpace, .io] as [StoreError.Code])
    func `The rows of a failed piece are not read back`(maps: Bool, code: StoreError.Code) throws {
        let disk = Disk()
        let sample = try SampleStore(fileSystem: disk) {
            $0.flushSize = 3000
            $0.usesMemoryMapping = maps
        }
        let kept = try sample.insert(.init(name: "kept", age: 1, group: 1, picture: .init(fill: 3, count: 9000)))
        func fails(_ what: String, _ body: () throws -> Void) {
            let error = #expect(throws: StoreError.self, "\(what)") { try body() }
            #expect(error?.code == code, "\(what)")
        }
        let person = SampleStore.Person(name: String(repeating: "n", count: 1000), age: 1, group: 1)
        fails("the transaction") {
            try sample.store.write { transaction in
                disk.set(.failing(after: 0, code))
                var rows: [RowReference] = []
                fails("writing") {
                    while true {
                        rows.append(sample.reference(try transaction.newRow(in: sample.table.id)))
                        try sample.put(transaction, rows[rows.count - 1].row, person)
                    }
                }
                fails("a row") { _ = try transaction.unsafeRow(rows[0]) }
                fails("a change") { try sample.put(transaction, rows[0].row, person) }
                fails("a deletion") { _ = try transaction.delete(rows[0]) }
                // The transaction did not write this row, so it can be read.
                let view = try #require(try transaction.unsafeRow(sample.reference(kept)))
                #expect(try sample.person(view, transaction.value) == sample.people[kept])
            }
        }
        disk.set(.none)
        if code == .io { try sample.reopenAfterCrash() }
        fails("a value's transaction") {
            try sample.store.write { transaction in
                disk.set(.failing(after: 0, code))
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, .init(name: "a", age: 1, group: 1, picture: .init(fill: 1, count: 20_000)))
                for _ in 0..<2 {
                    let view = try #require(try transaction.unsafeRow(sample.reference(row)))
                    fails("a value") { _ = try transaction.value(sample.table.currentLayout.access[3], of: view)?.unsafeChunk(0) }
                }
            }
        }
        disk.set(.none)
        try sample.reopenAfterCrash()
        try sample.check(sample.store.snapshot(), sample.people)
    }

    /// The sync at the end then has little left to do.
    @Test(arguments: [.full, .relaxed, .none] as [Durability])
    func `The disk may begin with a piece before the sync`(durability: Durability) throws {
        let disk = Disk()
        let sample = try SampleStore(fileSystem: disk) {
            $0.flushSize = 3000
            $0.durability = durability
        }
        func announced() -> [Range<UInt64>] { disk.announced.withLock { ranges in defer { ranges = [] }; return ranges } }
        for work in [{ try fill(sample) }, { _ = try sample.store.compact() }] {
            try work()
            let pieces = announced()
            #expect(durability == .none ? pieces.isEmpty : pieces.count > 10)
            #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
        }
        try fill(sample)
        _ = announced()
        try sample.store.checkpoint()
        #expect(announced().isEmpty == (durability == .none))
        try sample.insert(.init(name: "small", age: 1, group: 1))
        #expect(announced().isEmpty)
    }

    private func fill(_ sample: SampleStore) throws {
        try sample.store.write { transaction in
            for number in 0..<400 {
                let row = try transaction.newRow(in: sample.table.id)
                try sample.put(transaction, row, .init(name: String(repeating: "x", count: 100), age: Int64(number), group: 1))
            }
        }
    }
}
