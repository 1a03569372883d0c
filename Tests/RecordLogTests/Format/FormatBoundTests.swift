import Testing

@testable import RecordLog

/// The format's structures at their bounds: the shortest, the longest, and one byte beside.
@Suite struct FormatBoundTests {
    /// The expected values come from another implementation, the format reader.
    @Test(
        arguments: [
            (31, 0x8406_65B1_19F3_FED8), (32, 0xC85D_335A_CE50_BDF8), (33, 0xA073_2552_010E_41F4), (63, 0xAA3C_C16E_932F_873C),
            (64, 0x96DB_1F92_06C5_4DD9), (65, 0xDDA1_E3CE_DBE9_09A3), (96, 0x5B01_8679_3A70_E40F), (128, 0x47D2_5686_7237_3FD9),
        ] as [(Int, UInt64)])
    func `The checksum of whole blocks of 32 bytes, and of a byte more or less, is XXH64`(count: Int, expected: UInt64) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(bytes.withUnsafeBytes { XXH64.hash($0, seed: UInt64(count)) } == expected)
    }

    @Test(arguments: [false, true])
    func `A component of a key ends where it was written to its end, and a shorter start of it has no end`(descending: Bool) {
        let number = StoredDecimal(mantissa: 1250, exponent: -2, isNegative: false, isNaN: false)
        let negative = StoredDecimal(mantissa: 125, exponent: -1, isNegative: true, isNaN: false)
        let components: [(ColumnType, (KeyBuilder) -> Void)] = [
            (.bool, { $0.append(bool: true, descending: descending) }), (.int64, { $0.append(int64: -5, descending: descending) }),
            (.double, { $0.append(double: 1.5, descending: descending) }), (.text, { $0.append(text: "", descending: descending) }),
            (.text, { $0.append(text: "a\0\u{1}b", descending: descending) }),
            (.decimal, { $0.append(decimal: number, descending: descending) }),
            (.decimal, { $0.append(decimal: negative, descending: descending) }),
            (.reference, { $0.append(reference: RowReference(table: TableID(rawValue: 7), row: 3), descending: descending) }),
        ]
        for (type, append) in components {
            let key = KeyBuilder()
            append(key)
            let whole = key.bytes
            #expect(!whole.isEmpty)
            for size in 0...whole.count {
                let end = whole[..<size].withUnsafeBytes { KeyBuilder.componentEnd(at: 0, in: $0, type, descending: descending) }
                #expect(end == (size == whole.count ? size : nil), "\(type), \(size) of \(whole)")
            }
            let second = (whole + whole).withUnsafeBytes { KeyBuilder.componentEnd(at: whole.count, in: $0, type, descending: descending) }
            #expect(second == 2 * whole.count, "\(type)")
        }
    }

    @Test
    func `References sort in keys as their tables and rows do, in both directions`() {
        let references = [(1, 1), (1, 2), (1, 256), (2, 1), (300, 1)].map { RowReference(table: TableID(rawValue: $0.0), row: $0.1) }
        func keys(descending: Bool) -> [[UInt8]] {
            references.map {
                let key = KeyBuilder()
                key.append(reference: $0, descending: descending)
                return key.bytes
            }
        }
        for (earlier, later) in zip(keys(descending: false), keys(descending: false).dropFirst()) {
            #expect(earlier.lexicographicallyPrecedes(later))
        }
        for (earlier, later) in zip(keys(descending: true), keys(descending: true).dropFirst()) {
            #expect(later.lexicographicallyPrecedes(earlier))
        }
    }

    /// FORMAT.md, "Row body": the ends of variable columns take one, two or four bytes each, as few as their sum needs.
    @Test(arguments: [(255, 1), (256, 2), (65_535, 2), (65_536, 4)])
    func `A row's ends are as narrow as they may be`(size: Int, width: Int) {
        let columns = (0..<2).map { Column(id: ColumnID(rawValue: UInt16($0)), name: "\($0)", type: .text) }
        let layout = RowLayout(id: LayoutID(rawValue: 1), columns: columns)
        let builder = RowBuilder()
        builder.begin(layout)
        builder.set(0, text: "a")
        builder.set(1, text: String(repeating: "b", count: size - 1))
        #expect(builder.unsafeBody().count == layout.fixedEnd + width + size)
    }

    @Test
    func `A page of addresses states a width that is known, and has as many addresses as it states`() {
        for addresses in [[64, 0, 192], [64, 1 << 40]] as [[UInt64]] {
            let page = PrimaryPage.encode(addresses)
            func read(_ bytes: some Collection<UInt8>) -> [UInt64]? {
                Array(bytes).withUnsafeBytes { bytes in
                    guard let page = PrimaryPage(checking: bytes) else { return nil }
                    return (0...addresses.count).map { page.address($0) }
                }
            }
            #expect(read(page) == addresses + [0])
            for size in 0..<page.count { #expect(read(page[..<size]) == nil, "\(size) of \(page.count) bytes") }
            var unknown = page
            unknown[0] = 2
            #expect(read(unknown) == nil)
        }
    }

    @Test
    func `A commit's footer may be all of its payload, and its author may be all before it`() {
        for author in [0, 1, 7] {
            var footer = CommitFooter(
                sequence: 9, previousChecksum: 8, start: 8192, timestamp: -3, durableSequence: 7, rowCount: 2, authorLength: UInt16(author))
            footer.partsChecksum = 6
            var payload = [UInt8](repeating: 65, count: author + CommitFooter.Layout.size)
            payload.withUnsafeMutableBytes { footer.write(to: $0.baseAddress! + author) }
            #expect(payload.withUnsafeBytes { CommitFooter(payload: $0) } == footer)
            #expect(payload.dropFirst().withUnsafeBytes { CommitFooter(payload: $0) } == nil)
        }
    }

    @Test
    func `A frame is read only if the space holds it and it holds its payload`() {
        let size = FrameHeader.Layout.size
        for payload in [0, 1, 32, 33, 96, 97] {
            let length = FrameHeader.length(forPayload: payload)
            #expect(length % FrameHeader.alignment == 0 && length >= size + payload && length - FrameHeader.alignment < max(size + payload, 1))
            // The space behind it keeps a wrong bound from reading foreign memory.
            var frame = [UInt8](repeating: 0, count: length + 256)
            frame.withUnsafeMutableBytes { bytes in
                let start = bytes.baseAddress!
                let sum = FrameHeader.seal(start, kind: .commit, payloadLength: payload, sequence: 5, fileID: 1, offset: 8192)
                for limit in [0, 63, 64, length - 1, length, length + 64] {
                    let header = FrameHeader(start, limit: UInt64(limit))
                    #expect((header != nil) == (limit >= length), "\(payload) bytes of payload, \(limit) bytes of room")
                    if let header { #expect(header.checksum == sum && Int(header.payloadLength) == payload && header.sequence == 5) }
                }
                for stated in [length - size, length - size + 1] {
                    start.storeBytes(of: UInt32(stated).littleEndian, toByteOffset: FrameHeader.Layout.payloadLength, as: UInt32.self)
                    #expect((FrameHeader(start, limit: UInt64(length)) != nil) == (stated + size <= length))
                }
            }
        }
    }
}
