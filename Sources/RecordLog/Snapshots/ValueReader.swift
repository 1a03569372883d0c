/// The source of a value's frames.
package protocol ValueSource: Sendable {
    var path: String { get }
    /// The verified frame at an offset; nil if there is none.
    /// - Parameter limit: the end of the readable bytes.
    func frame(at offset: UInt64, limit: UInt64) throws(StoreError) -> LogFile.Frame?
}

extension LogFile: ValueSource {}

/// Reads one value of a row without copying it. It keeps the file readable.
public struct ValueReader: Sendable {
    /// The value's bytes.
    public let count: Int
    private let source: any ValueSource
    private let storage: Storage

    private enum Storage: @unchecked Sendable {
        // Unchecked: they point at committed bytes, which never change.
        case inline(UnsafeRawBufferPointer)
        case chunk(FramePointer)
        case list(ValueList, at: UInt64)
    }

    /// - Parameter stored: the bytes that a row stores for the value.
    /// - Throws: `corrupt` if they are not a value, or refer to no list of chunks of its length.
    package init(_ stored: UnsafeRawBufferPointer, in source: any ValueSource) throws(StoreError) {
        guard let value = StoredValue(stored) else { throw Self.corrupt(source, at: nil, "a row's value is malformed") }
        try self.init(value, in: source)
    }

    init(_ value: StoredValue, in source: any ValueSource) throws(StoreError) {
        self.source = source
        switch value {
        case .inline(let bytes):
            count = bytes.count
            storage = .inline(bytes)
        case .reference(let reference):
            // Checked before any memory is allocated: chunks are before their list, and one chunk fits a segment.
            let most = reference.form == .list ? reference.pointer.offset : UInt64(RowRecord.bodyLengthMax)
            guard reference.length <= most, let length = Int(exactly: reference.length) else {
                throw Self.corrupt(source, at: reference.pointer.offset, "a row's value has an impossible length")
            }
            count = length
            guard reference.form == .list else {
                storage = .chunk(reference.pointer)
                return
            }
            let payload = try Self.payload(reference.pointer, .valueList, before: .max, source)
            guard let list = ValueList(payload), list.length == reference.length else {
                throw Self.corrupt(source, at: reference.pointer.offset, "the list of a value's chunks does not agree with the row")
            }
            storage = .list(list, at: reference.pointer.offset)
        }
    }

    private static func corrupt(_ source: any ValueSource, at offset: UInt64?, _ message: String) -> StoreError {
        StoreError.corrupt(source.path, at: offset, message)
    }

    private static func payload(
        _ pointer: FramePointer, _ kind: FrameKind, before limit: UInt64, _ source: any ValueSource
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        guard pointer.offset < limit, let frame = try source.frame(at: pointer.offset, limit: limit), frame.header.kind == kind,
            frame.header.checksum == pointer.checksum
        else { throw corrupt(source, at: pointer.offset, "a part of a value is damaged") }
        return frame.payload
    }

    /// Whether the value is in its row, not in separate frames.
    package var isInline: Bool {
        if case .inline = storage { return true }
        return false
    }

    // MARK: Chunks

    /// The number of pieces of the value.
    public var chunkCount: Int {
        switch storage {
        case .inline, .chunk: 1
        case .list(let list, _): list.chunkCount
        }
    }

    /// The length of every chunk except the last.
    private var chunkLength: Int {
        switch storage {
        case .inline, .chunk: max(count, 1)
        case .list(let list, _): Int(clamping: list.chunkLength)
        }
    }

    /// One piece of the value, not copied; valid as long as this reader is held. Its checksum is computed at its first touch.
    /// - Throws: `corrupt` if the piece is damaged.
    /// - Precondition: `index` is less than `chunkCount`.
    public func unsafeChunk(_ index: Int) throws(StoreError) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < chunkCount, "a value has no such chunk")
        switch storage {
        case .inline(let bytes): return bytes
        case .chunk(let pointer):
            let payload = try Self.payload(pointer, .valueChunk, before: .max, source)
            guard payload.count == count else { throw Self.corrupt(source, at: pointer.offset, "a value is not as long as its row says") }
            return payload
        case .list(let list, let offset):
            let pointer = list.pointer(index)
            // Offsets must ascend, so that no list names one chunk many times.
            guard index == 0 || list.pointer(index - 1).offset < pointer.offset else {
                throw Self.corrupt(source, at: offset, "the list of a value's chunks is not in order")
            }
            let payload = try Self.payload(pointer, .valueChunk, before: offset, source)
            guard UInt64(payload.count) == list.length(of: index) else {
                throw Self.corrupt(source, at: pointer.offset, "a chunk of a value is not as long as its list says")
            }
            return payload
        }
    }

    /// Calls `body` with each piece of the value in order, until it returns false. Copies nothing.
    public func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        for index in 0..<chunkCount {
            guard try body(try unsafeChunk(index)) else { return }
        }
    }

    /// Copies bytes of the value from `offset` on.
    /// - Returns: the number of bytes copied: the size of `buffer`, or fewer at the value's end.
    /// - Throws: `corrupt`; the buffer's contents are unspecified then.
    /// - Complexity: O(bytes); a chunk is verified as a whole at its first touch.
    public func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int = 0) throws(StoreError) -> Int {
        guard offset >= 0, offset < count else { return 0 }
        let wanted = min(buffer.count, count - offset)
        var done = 0
        while done < wanted {
            let at = offset + done
            let piece = try unsafeChunk(at / chunkLength)
            let start = at % chunkLength
            let part = min(piece.count - start, wanted - done)
            let from = UnsafeRawBufferPointer(rebasing: piece[start..<start + part])
            UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part]).copyMemory(from: from)
            done += part
        }
        return done
    }

    /// A copy of the value's bytes.
    /// - Throws: `corrupt`.
    public func bytes() throws(StoreError) -> [UInt8] {
        // A damaged row may state any length, so memory is allocated only once the pieces are known.
        try verify()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in 0..<chunkCount { bytes.append(contentsOf: try unsafeChunk(index)) }
        return bytes
    }

    /// Verifies every piece. After it, `count` is known to be right, and may be used to allocate memory.
    /// - Throws: `corrupt` at the first damaged piece.
    public func verify() throws(StoreError) {
        for index in 0..<chunkCount { _ = try unsafeChunk(index) }
    }

    /// Whether the value equals these bytes.
    public func elementsEqual(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        guard bytes.count == count else { return false }
        var at = 0
        for index in 0..<chunkCount {
            let piece = try unsafeChunk(index)
            guard KeyBytes.compare(piece, UnsafeRawBufferPointer(rebasing: bytes[at..<at + piece.count])) == 0 else { return false }
            at += piece.count
        }
        return true
    }
}

extension LogFile {
    /// The value in a column of a committed row of this file; nil for null, and for a column of another type.
    /// - Throws: `corrupt` if the row does not refer to a value.
    package func value(_ access: ColumnAccess, of row: UnsafeRowView) throws(StoreError) -> ValueReader? {
        guard access.typeCode == ColumnType.value.rawValue, !row.isNull(access) else { return nil }
        return try ValueReader(row.bytes(access), in: self)
    }
}

extension Snapshot {
    /// The value in a column of a row that was read from this snapshot; nil for null, and for a column of another type.
    /// - Throws: `corrupt` if the row does not refer to a value.
    /// - Complexity: O(1); chunks are checked when they are read.
    public func value(_ access: ColumnAccess, of row: UnsafeRowView) throws(StoreError) -> ValueReader? {
        try file.value(access, of: row)
    }
}
