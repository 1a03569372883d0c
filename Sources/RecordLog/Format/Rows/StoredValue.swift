/// The bytes that a row stores for a value column. Spec: FORMAT.md, "Values".
enum StoredValue {
    /// The value, in the row.
    case inline(UnsafeRawBufferPointer)
    /// A reference to the value's frames.
    case reference(ValueReference)

    static let inlineForm: UInt8 = 0

    /// - Returns: nil if the bytes are not a value.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let form = bytes.first else { return nil }
        if form == Self.inlineForm {
            self = .inline(UnsafeRawBufferPointer(rebasing: bytes[1...]))
        } else {
            guard let reference = ValueReference(bytes) else { return nil }
            self = .reference(reference)
        }
    }

    static func encode(inline bytes: UnsafeRawBufferPointer) -> [UInt8] { [inlineForm] + bytes }
}

/// Refers to a value in separate frames; a row stores it.
struct ValueReference: Hashable, Sendable {
    enum Form: UInt8 {
        /// The pointer refers to the only chunk.
        case chunk = 1
        /// The pointer refers to the list of the value's chunks.
        case list = 2
    }

    var form: Form
    /// The count of the value's bytes; never 0.
    var length: UInt64
    var pointer: FramePointer

    static let size = 25
    /// More than a file holds. A row's larger claim counts as this much, so that no sum overflows.
    static let lengthMax: UInt64 = 1 << 46

    init(form: Form, length: UInt64, pointer: FramePointer) {
        self.form = form
        self.length = length
        self.pointer = pointer
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard bytes.count == Self.size, let form = reader.integer(UInt8.self).flatMap(Form.init), let length = reader.integer(UInt64.self),
            length > 0, let pointer = reader.pointer()
        else { return nil }
        self.init(form: form, length: length, pointer: pointer)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(form.rawValue)
        writer.append(length)
        writer.append(pointer)
        return writer.bytes
    }
}

/// Limits of the chunks of a value.
enum ValueChunk {
    /// The longest payload of a chunk. The frame is 1 MiB, so that a reader of a part verifies no more, or an eighth of a small segment,
    /// so that pads waste no more.
    static func sizeMax(segmentSize: UInt64) -> Int {
        Int(min(1 << 20, segmentSize / 8)) - FrameHeader.Layout.size
    }

    /// The longest value that a row stores. A separate frame costs up to some 200 bytes (its header and padding, and those of the frame
    /// of rows that it ends) and a cache miss at each read; a value in the row is copied at each change of the row. At a page of
    /// 4 KiB the first cost is a twentieth. The limit is lower in small segments, so that a row of many values fits a frame.
    static func inlineMax(segmentSize: UInt64) -> Int { Int(min(4096, segmentSize / 64)) }
}

/// The payload of a value list: the value's length, the length of every chunk except the last, and the chunks' pointers.
struct ValueList {
    let length: UInt64
    let chunkLength: UInt64
    private let pointers: UnsafeRawBufferPointer

    private static let headerSize = 16
    private static let pointerSize = 16

    /// The most chunks of a list in a store.
    static func chunksMax(segmentSize: UInt64) -> Int {
        let frame = min(segmentSize - FileFormat.dataStart, UInt64(RowRecord.bodyLengthMax))
        return (Int(frame) - FrameHeader.lengthMin - headerSize) / pointerSize
    }

    /// - Returns: nil if the payload is not a list.
    init?(_ payload: UnsafeRawBufferPointer) {
        var reader = ByteReader(payload)
        guard let length = reader.integer(UInt64.self), let chunkLength = reader.integer(UInt64.self), length > 0, chunkLength > 0
        else { return nil }
        self.length = length
        self.chunkLength = chunkLength
        pointers = UnsafeRawBufferPointer(rebasing: payload[Self.headerSize...])
        guard pointers.count % Self.pointerSize == 0, UInt64(chunkCount) == (length - 1) / chunkLength + 1 else { return nil }
    }

    static func encode(length: UInt64, chunkLength: Int, _ pointers: [FramePointer]) -> [UInt8] {
        var writer = ByteWriter()
        writer.bytes.reserveCapacity(headerSize + pointers.count * pointerSize)
        writer.append(length)
        writer.append(UInt64(chunkLength))
        for pointer in pointers { writer.append(pointer) }
        return writer.bytes
    }

    var chunkCount: Int { pointers.count / Self.pointerSize }

    func pointer(_ index: Int) -> FramePointer {
        func load(_ offset: Int) -> UInt64 { UInt64(littleEndian: pointers.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        return FramePointer(offset: load(index * Self.pointerSize), checksum: load(index * Self.pointerSize + 8))
    }

    /// The length of a chunk.
    func length(of index: Int) -> UInt64 {
        min(chunkLength, length - UInt64(index) * chunkLength)
    }
}

extension RowLayout {
    /// The sum of the lengths that a row states for its values in separate frames.
    func valueBytes(of row: UnsafeRowView) -> UInt64 {
        var sum: UInt64 = 0
        for position in valuePositions where !row.isNull(access[position]) {
            guard let reference = ValueReference(row.bytes(access[position])) else { continue }
            sum = min(sum + min(reference.length, ValueReference.lengthMax), ValueReference.lengthMax)
        }
        return sum
    }
}

extension TableDefinition {
    /// The bytes of a row, counted as live: its record without version and previous address, and its values.
    @inline(__always)
    func liveBytes(of row: UnsafeRowView) -> UInt64 {
        let record = UInt64(RowRecord.size(ofBody: row.byteCount))
        guard let layout = layout(row.layoutID) else { return record }
        return record + layout.valueBytes(of: row)
    }
}
