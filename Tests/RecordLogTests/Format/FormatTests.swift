import Foundation
import Testing

@testable import RecordLog

/// These tests are compatibility-sensitive: if one fails, the format has changed, and FORMAT.md's rule for versions applies.
@Suite struct FormatTests {
    @Test
    func `The numbers are pinned`() {
        #expect(FileFormat.version == 1)
        #expect(FileFormat.dataStart == 8192 && FileFormat.superblockOffsets == [0, 4096] && FileFormat.identityOffsets == [1024, 5120])
        #expect(FrameKind(rawValue: 0) == nil, "zero-filled space is never a frame")
        #expect(FrameKind.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        #expect(FrameHeader.Layout.size == 32 && FrameHeader.alignment == 64 && FrameHeader.lengthMin == 64)
        #expect(RowRecord.Layout.size == 14 && CommitFooter.Layout.size == 56 && Superblock.Layout.size == 512)
        #expect(FileIdentity.Layout.size == 64 && StoredDecimal.size == 20 && PrimaryBase.rowsPerPage == 4096)
        #expect(ValueReference.size == 25 && ValueReference.Form(rawValue: 0) == nil && StoredValue.inlineForm == 0)
        #expect(ColumnType.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18])
        #expect(RowRecord.Operation(rawValue: 0) == nil && Collation(rawValue: 0) == nil)
        #expect(Catalog.row == 1 && RowNumbers.row == 2 && CommitDecisions.row == 3 && Transaction.systemRows == 8..<1024)
    }

    @Test
    func `A catalog whose index is of the system table, or of no table, is none`() {
        let column = Column(id: ColumnID(rawValue: 1), name: "c", type: .int64)
        let table = TableDefinition(id: TableID(rawValue: 1), name: "t", layouts: TableDefinition.layouts([[column]]), nextColumn: 2)
        for (number, isRead) in [(UInt16(1), true), (0, false), (2, false)] {
            let index = IndexDefinition(
                id: IndexID(rawValue: 0), table: TableID(rawValue: number), name: "i", parts: [IndexPart(column: column.id, ascending: true)],
                extractorName: nil)
            let catalog = Catalog(tables: [table], indexes: [index], nextTable: 5, nextIndex: 1)
            #expect(catalog.encoded().withUnsafeBytes { Catalog($0) != nil } == isRead, "table \(number)")
        }
    }

    @Test
    func `Checksums are XXH64`() {
        func hash(_ text: String, _ seed: UInt64) -> UInt64 {
            Array(text.utf8).withUnsafeBytes { XXH64.hash($0, seed: seed) }
        }
        // Published vectors.
        #expect(hash("", 0) == 0xEF46_DB37_51D8_E999)
        #expect(hash("a", 0) == 0xD24E_C4F1_A98C_6E5B)
        #expect(hash("abc", 0) == 0x44BC_2CF5_AD77_0999)
        #expect(hash("xxhash", 20_141_025) == 0xB559_B98D_844E_0635)
        #expect(hash("Nobody inspects the spammish repetition", 0) == 0xFBCE_A83C_8A37_8BF1)
    }

    @Test
    func `FORMAT.md's example of a value reference is right`() throws {
        let reference = ValueReference(form: .list, length: 9000, pointer: FramePointer(offset: 16_448, checksum: 0x0102_0304_0506_0708))
        let wanted: [UInt8] = [
            0x02, 0x28, 0x23, 0, 0, 0, 0, 0, 0, 0x40, 0x40, 0, 0, 0, 0, 0, 0, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
        ]
        #expect(reference.encoded == wanted && wanted.withUnsafeBytes { ValueReference($0) } == reference)
        #expect(ValueChunk.sizeMax(segmentSize: 1 << 26) == (1 << 20) - 32 && ValueChunk.sizeMax(segmentSize: 1 << 16) == 8160)
        #expect(ValueChunk.inlineMax(segmentSize: 1 << 26) == 4096 && ValueChunk.inlineMax(segmentSize: 1 << 16) == 1024)
    }

    @Test
    func `FORMAT.md's worked example is right`() throws {
        let fileSystem = MemoryFileSystem()
        let identity = FileIdentity(segmentShift: 16, storeID: StoredUUID(words: (1, 2)), fileID: 0x0102_0304_0506_0708)
        let file = LogFile(storage: try fileSystem.open("example", .create), path: "example", identity: identity, maps: true, counters: Counters())
        let appender = FrameAppender(file: file, at: FileFormat.dataStart, sequence: 1, counters: Counters())
        let body: [UInt8] = [0, 0, 0xFE, 1]
        _ = try body.withUnsafeBytes { body in
            try appender.appendRow(.put, RowReference(table: TableID(rawValue: 1), row: 1), body: body, version: 1, previous: 0)
        }
        _ = try appender.appendFooter(
            CommitFooter(sequence: 1, previousChecksum: 0, start: 8192, timestamp: 0, durableSequence: 0, rowCount: 1, authorLength: 0),
            author: [])
        try appender.flush()
        let bytes = try #require(fileSystem.contents(of: "example"))[8192...]
        let lines = stride(from: 0, to: bytes.count, by: 16).map { at in
            Self.hexadecimal([UInt8](bytes[(8192 + at)..<min(8192 + at + 16, bytes.endIndex)]))
        }
        let document = try document()
        #expect(document.contains(lines.joined(separator: "\n")), "\(lines.joined(separator: "\n"))")
    }

    @Test
    func `FORMAT.md's examples of keys are right`() throws {
        let decimal = StoredDecimal(mantissa: 1250, exponent: -2, isNegative: false, isNaN: false)
        let negative = StoredDecimal(mantissa: 125, exponent: -1, isNegative: true, isNaN: false)
        let examples: [(String, (KeyBuilder) -> Void)] = [
            ("int32 −1", { $0.append(int64: -1) }), ("text `a`, NUL", { $0.append(text: "a\0") }),
            ("the same, descending", { $0.append(text: "a\0", descending: true) }), ("decimal 12.5", { $0.append(decimal: decimal) }),
            ("decimal −12.5", { $0.append(decimal: negative) }),
        ]
        let document = try document()
        for (name, build) in examples {
            let key = KeyBuilder()
            build(key)
            let row = "| \(name) | \(Self.hexadecimal(key.bytes)) |"
            #expect(document.contains(row), "\(row)")
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    private func document() throws -> String {
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return try String(contentsOf: root.appendingPathComponent("FORMAT.md"), encoding: .utf8)
    }

    @Test
    func `A value comes back from its component of a key`() {
        func component(_ build: (KeyBuilder) -> Void) -> [UInt8] {
            let key = KeyBuilder()
            build(key)
            return key.bytes
        }
        for number in [Int64.min, -256, -1, 0, 1, .max] { #expect(KeyBuilder.int64(component { $0.append(int64: number) }) == number) }
        for number in [-Double.infinity, -1e300, -0.5, 0, .leastNonzeroMagnitude, 100.25, .infinity] {
            #expect(KeyBuilder.double(component { $0.append(double: number) }) == number)
        }
        #expect(KeyBuilder.double(component { $0.append(double: -0.0) })?.sign == .plus && KeyBuilder.double(component { $0.append(double: .nan) }) == nil)
        for bytes in [[], [0], [1], [2, 1, 0, 0, 1, 255], Array("a\u{1}\u{0}é".utf8)] as [[UInt8]] {
            #expect(KeyBuilder.bytes(component { key in bytes.withUnsafeBytes { key.append(bytes: $0) } }) == bytes)
        }
        #expect(KeyBuilder.uuid(component { $0.append(uuid: (1, 2)) })?.count == 16)
        let reference = RowReference(rawValue: 0x0102_0304_0506_0708)
        #expect(KeyBuilder.reference(component { $0.append(reference: reference) }) == reference)
        // Null, the start of a text, and a component of another type.
        let null = component { $0.appendNull() }, start = component { $0.append(textPrefix: "ab") }, flag = component { $0.append(bool: true) }
        #expect(KeyBuilder.int64(null) == nil && KeyBuilder.bytes(null) == nil && KeyBuilder.uuid(null) == nil)
        #expect(KeyBuilder.bytes(start) == nil && KeyBuilder.double(flag) == nil && KeyBuilder.reference([]) == nil)
    }

    @Test
    func `Keys sort as their values do`() {
        func keys(_ build: (KeyBuilder) -> Void...) -> [[UInt8]] {
            build.map { build in
                let key = KeyBuilder()
                build(key)
                return key.bytes
            }
        }
        func decimal(_ mantissa: UInt128, _ exponent: Int16, _ isNegative: Bool = false) -> StoredDecimal {
            StoredDecimal(mantissa: mantissa, exponent: exponent, isNegative: isNegative, isNaN: false)
        }
        let ascending: [[[UInt8]]] = [
            keys({ $0.appendNull() }, { $0.append(int64: .min) }, { $0.append(int64: -1) }, { $0.append(int64: 0) }, { $0.append(int64: .max) }),
            keys({ $0.appendNull() }, { $0.append(double: .nan) }, { $0.append(double: -.infinity) }, { $0.append(double: -1.5) },
                { $0.append(double: 0) }, { $0.append(double: 1e-300) }, { $0.append(double: .infinity) }),
            keys({ $0.append(text: "") }, { $0.append(text: "\0") }, { $0.append(text: "\0a") }, { $0.append(text: "a") },
                { $0.append(text: "a\0") },
                { $0.append(text: "ab") }, { $0.append(text: "é") }),
            keys({ $0.append(decimal: decimal(12, 0, true)) }, { $0.append(decimal: decimal(115, -1, true)) },
                { $0.append(decimal: decimal(0, 5)) },
                { $0.append(decimal: decimal(99, -3)) }, { $0.append(decimal: decimal(1, -1)) }, { $0.append(decimal: decimal(11, -2)) },
                { $0.append(decimal: decimal(2, 0)) }, { $0.append(decimal: decimal(10, 0)) }),
            keys({ $0.append(text: "b", descending: true) }, { $0.append(text: "ab", descending: true) },
                { $0.append(text: "a", descending: true) },
                { $0.appendNull(descending: true) }),
        ]
        for list in ascending {
            for (a, b) in zip(list, list.dropFirst()) { #expect(a.lexicographicallyPrecedes(b), "\(a) \(b)") }
        }
        #expect(keys({ $0.append(decimal: decimal(1, 0)) }) == keys({ $0.append(decimal: decimal(100, -2)) }))
        #expect(keys({ $0.append(double: 0) }) == keys({ $0.append(double: -0.0) }))
    }
}
