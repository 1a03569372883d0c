import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Rows that no writer makes, with valid checksums, as input for verify, compact and salvage.
@Suite struct RowAuditTests {
    private static let path = "rows.heartwood"
    private typealias Build = @Sendable (RowBuilder) -> Void
    private typealias Change = @Sendable (inout [UInt8], RowLayout) -> Void

    private struct Store {
        let files = MemoryFileSystem()
        let log: LogStore
        let table: TableDefinition

        init() throws {
            var options = StoreOptions()
            options.fileSystem = files
            options.segmentShift = 16
            log = try LogStore.open(path: RowAuditTests.path, options: options)
            table = try log.write { transaction in
                let table = try transaction.defineTable(name: "Row", columns: [
                    ("flag", .bool), ("number", .int32), ("price", .decimal), ("a", .text), ("b", .text), ("c", .bytes),
                ])
                _ = try transaction.defineIndex(
                    named: "number", on: table.id, parts: [IndexPart(column: table.currentLayout.columns[1].id, ascending: true)])
                return table
            }
        }

        var options: StoreOptions {
            var options = StoreOptions()
            options.fileSystem = files
            return options
        }

        /// Puts a row from a builder and changes its bytes.
        func put(changing change: Change = { _, _ in }, _ build: Build) throws {
            let builder = RowBuilder()
            builder.begin(table.currentLayout)
            build(builder)
            var bytes = Array(builder.unsafeBody())
            change(&bytes, table.currentLayout)
            try log.write { transaction in
                let row = try transaction.newRow(in: table.id)
                try bytes.withUnsafeBytes { try transaction.put(RowReference(table: table.id, row: row), body: $0) }
            }
        }

        func verify() throws -> StoreVerification { try StoreVerification.verify(path: RowAuditTests.path, fileSystem: files) }
    }

    @Sendable private static func whole(_ builder: RowBuilder) {
        builder.set(0, bool: true)
        builder.set(1, int64: 7)
        builder.set(2, decimal: StoredDecimal(mantissa: 15, exponent: -1, isNegative: true, isNaN: false))
        builder.set(3, text: "ä text")
        builder.set(4, text: "b")
        [1, 2, 3].withUnsafeBytes { builder.set(5, bytes: $0) }
    }

    private static let null: Build = { _ in }

    /// The changes of a row, and the message of verify for each.
    private static let faults: [(what: String, build: Build, change: Change)] = [
        ("column flag: it is neither", whole, { $0[Int($1.access[0].position)] = 2 }),
        ("column price: it is a decimal", whole, { $0[Int($1.access[2].position) + 18] |= 4 }),
        ("column price: it is a decimal", whole, { $0[Int($1.access[2].position) + 19] = 1 }),
        ("column price: it is a decimal", whole, { $0[Int($1.access[2].position) + 18] = 2 }),
        ("column a: its text is no UTF-8", whole, { bytes, layout in bytes[layout.fixedEnd + 2] = 0xFF }),
        ("column number: it is null and its bytes", null, { $0[Int($1.access[1].position)] = 1 }),
        ("bits of its null bitmap", null, { bytes, _ in bytes[2] &= 0x7F }),
        ("column b: it is null and has bytes", whole, { bytes, _ in bytes[2] |= 1 << 4 }),
        ("its end offsets are out of order", whole, { bytes, layout in bytes[layout.fixedEnd] = 200 }),
        ("its end offsets are wider", whole, { bytes, layout in
            bytes[1] |= 1 << 6
            bytes.insert(0, at: layout.fixedEnd + 1)
            bytes.insert(0, at: layout.fixedEnd + 3)
        }),
    ]

    @Test(arguments: faults.indices)
    func `Verify finds each row that no writer writes, compact refuses it and leaves the file, and salvage brings out a sound store`(
        number: Int
    ) throws {
        let store = try Store()
        try store.put(Self.whole)
        #expect(try store.verify().isSound)
        let fault = Self.faults[number]
        try store.put(changing: fault.change, fault.build)
        let found = try store.verify()
        #expect(found.problemCount == 1 && found.problems.first?.message.contains("table Row, row 2") == true)
        #expect(found.problems.first?.message.contains(fault.what) == true, "\(found.problems)")
        #expect(found.problems.first?.remedy == .correct && found.problems.first?.offset != nil)
        let before = store.files.contents(of: Self.path)
        for window in [HistoryWindow.none, .commits(1)] {
            let error = #expect(throws: StoreError.self) { try store.log.compact(keeping: window) }
            #expect(error?.code == .corrupt && error?.remedy.contains("heartwood salvage") == true && error?.message.contains(fault.what) == true)
        }
        #expect(throws: StoreError.self) { try store.log.copy(to: "copy", options: store.options) }
        #expect(store.files.contents(of: Self.path) == before)
        try store.log.close()
        let report = try StoreSalvage.salvage(path: Self.path, to: "new.heartwood", options: store.options)
        #expect(try StoreVerification.verify(path: "new.heartwood", fileSystem: store.files).isSound)
        #expect(report.rows == (fault.what.contains("out of order") ? 1 : 2))
        let isOfValue = ["neither", "decimal", "UTF-8"].contains { fault.what.contains($0) }
        #expect(report.tables.first?.valuesLost == (isOfValue ? 1 : 0))
    }

    @Test
    func `The audit finds no fault in the rows of a builder`() throws {
        let store = try Store(), seed: UInt64 = 11
        var random = SeededGenerator(seed: seed)
        let builder = RowBuilder(), layout = store.table.currentLayout
        var last: [UInt8] = []
        for round in 0..<4000 {
            // A new row, or the next version of the previous one.
            let isRevised = !last.isEmpty && Bool.random(using: &random)
            last.withUnsafeBytes { bytes in
                guard isRevised, let start = bytes.baseAddress else { return builder.begin(layout) }
                let row = UnsafeRowView(body: start, byteCount: bytes.count, reference: RowReference(rawValue: 0), version: 0)
                builder.begin(layout, copying: row, of: layout)
            }
            for position in layout.columns.indices where Bool.random(using: &random) {
                guard Int.random(in: 0..<3, using: &random) > 0 else { builder.setNull(position); continue }
                switch layout.columns[position].type {
                case .bool: builder.set(position, bool: Bool.random(using: &random))
                case .int32: builder.set(position, int64: Int64.random(in: -9...9, using: &random))
                case .decimal:
                    builder.set(position, decimal: StoredDecimal(
                        mantissa: UInt128(UInt64.random(in: 0...99, using: &random)), exponent: Int16.random(in: -3...3, using: &random),
                        isNegative: Bool.random(using: &random), isNaN: false))
                default:
                    let text = String(repeating: ["a", "é", "漢", "😀"].randomElement(using: &random)!, count: Int.random(in: 0...90, using: &random))
                    Array(text.utf8).withUnsafeBytes { builder.set(position, bytes: $0) }
                }
            }
            last = Array(builder.unsafeBody())
            let fault = last.withUnsafeBytes { bytes in
                RowAudit.fault(
                    of: UnsafeRowView(body: bytes.baseAddress!, byteCount: bytes.count, reference: RowReference(rawValue: 0), version: 0), layout)
            }
            #expect(fault == nil, "seed \(seed), round \(round): \(fault?.message ?? "")")
        }
    }

    @Test
    func `Bytes are UTF-8 where the library says so`() {
        let seed: UInt64 = 5
        var random = SeededGenerator(seed: seed)
        let parts: [[UInt8]] = [
            [0x61], [0xC3, 0xA4], [0xE6, 0xBC, 0xA2], [0xF0, 0x9F, 0x98, 0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xEF, 0xBF, 0xBD], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
            [0x80], [0xFF], [0],
        ]
        for round in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                bytes += parts[Int.random(in: 0..<(round % 2 == 0 ? 4 : parts.count), using: &random)]
            }
            if round % 3 == 0, !bytes.isEmpty { bytes.removeLast() }
            let isText = String(validating: bytes, as: UTF8.self) != nil
            #expect(bytes.withUnsafeBytes { RowAudit.isUTF8($0) } == isText, "seed \(seed), round \(round): \(bytes)")
        }
    }

    @Test
    func `An index that says something else than the rows is found by verify, and made anew by compact`() throws {
        let store = try Store()
        for number in 0..<20 {
            try store.put { builder in
                Self.whole(builder)
                builder.set(1, int64: Int64(number))
            }
        }
        try store.log.checkpoint()
        try store.log.close()
        // An entry's key, in a block whose checksums are then repaired.
        let bytes = try #require(store.files.contents(of: Self.path))
        var changed = 0
        for at in bytes.indices where at > 8192 && bytes[at - 32] == 0 {
            guard bytes.count > at + 200 else { break }
            var damaged = bytes
            guard let frame = Self.indexBlock(in: bytes) else { break }
            let entry = frame + 32 + 8 + 12 * 2 + changed
            guard entry < bytes.count else { break }
            damaged[entry] ^= 1
            ChecksumRepair.all.apply(to: &damaged)
            changed += 1
            guard changed < 160 else { break }
            let files = MemoryFileSystem()
            files.setContents(of: Self.path, to: damaged)
            var options = store.options
            options.fileSystem = files
            guard let log = try? LogStore.open(path: Self.path, options: options) else { continue }
            _ = try log.compact()
            try log.close()
            #expect(try StoreVerification.verify(path: Self.path, fileSystem: files).isSound, "byte \(entry)")
        }
        #expect(changed > 100)
    }

    /// The offset of the first index block.
    private static func indexBlock(in bytes: [UInt8]) -> Int? {
        stride(from: 8192, to: bytes.count - 64, by: 64).first { bytes[$0 + 16] == FrameKind.indexBlock.rawValue && bytes[$0] != 0 }
    }
}
