/// Builds frames in memory in their final arrangement, and writes them to the file in large pieces.
///
/// Invariants:
/// 1. The byte at `count` goes to the file's byte `base + count`, so the address of a row is final when it is appended.
/// 2. No frame crosses a segment's end: a pad fills the rest.
/// 3. Flushed bytes are behind the published end; nothing reads them until a commit or checkpoint is published.
/// 4. Everything below `writtenEnd` is in the file; between it and `base` is at most one piece that is being written.
final class FrameAppender: CheckpointFrameSink {
    private let file: LogFile
    private(set) var base: UInt64
    private let buffer: FrameBuffer
    private(set) var count = 0
    /// The piece that is being written in the background, and its frames.
    private var behind: (piece: BackgroundWrite, sealed: [UInt64], frameCount: Int)?
    /// The second buffer, which background writes need.
    private var spare: FrameBuffer?
    /// The offset in memory of the open frame; nil between frames.
    private var openFrame: Int?
    /// The commit sequence for the frames' headers.
    private var sequence: UInt64
    private var frameCount = 0
    /// The offset of the commit's first frame, behind a pad if there is one. The footer contains it.
    private var firstFrame: UInt64?
    /// The folded checksum of the frames of rows and values so far. The footer contains it.
    private var partsChecksum: UInt64 = 0
    private var sealed: [UInt64] = []
    private var pointers: [FramePointer] = []
    /// The offset in memory of the open batch's first frame.
    private var batch: Int?
    /// The error of a failed write. The handle must not continue after it.
    private(set) var failure: StoreError?
    /// The offset of the first byte that could not be written.
    private var failedFrom: UInt64?
    private let counters: Counters

    /// The number of gathered bytes that triggers a write.
    private let flushSize: Int
    /// Whether a sync of everything follows.
    private let isSyncedSoon: Bool

    static let flushSize = 4 << 20

    init(
        file: LogFile, at offset: UInt64, sequence: UInt64, counters: Counters, isSyncedSoon: Bool = false,
        flushSize: Int = FrameAppender.flushSize, buffer: FrameBuffer = FrameBuffer()
    ) {
        self.isSyncedSoon = isSyncedSoon
        self.flushSize = flushSize
        self.file = file
        base = offset
        self.sequence = sequence
        self.counters = counters
        self.buffer = buffer
    }

    deinit {
        try? behind?.piece.finish()
    }

    var path: String { file.path }
    var segmentSize: UInt64 { file.segmentSize }

    /// The end of the appended bytes that are in the file.
    var writtenEnd: UInt64 { failedFrom ?? behind?.piece.offset ?? base }

    /// The file offset of the next byte.
    var position: UInt64 { base + UInt64(count) }
    var logEnd: UInt64 { position }

    @inline(__always)
    private var memory: UnsafeMutableRawPointer { buffer.memory }

    @inline(__always)
    private func ensure(_ more: Int) { buffer.ensure(more, after: count) }

    // MARK: Frames

    /// Throws if no frame can hold the payload; changes nothing.
    func checkFits(payload: Int) throws(StoreError) {
        let most = min(file.segmentSize - FileFormat.dataStart, UInt64(RowRecord.bodyLengthMax))
        guard UInt64(payload) <= most, UInt64(FrameHeader.length(forPayload: payload)) <= most else {
            throw StoreError(
                .tooLarge, path: file.path, "one value of \(payload) bytes is larger than a frame of this store holds",
                remedy: "Keep values of more than \(most >> 10) KiB outside the store, or make it with larger segments.")
        }
    }

    /// Begins a frame with room for `payload` bytes in this segment; if there is none, pads to the next segment first.
    private func open(forPayload payload: Int) throws(StoreError) {
        try checkFits(payload: payload)
        let length = UInt64(FrameHeader.length(forPayload: payload))
        let room = file.room(at: position)
        guard (length > room ? position + room : position) < file.sizeMax else { throw file.full() }
        if length > room {
            ensure(Int(room))
            let start = count
            (memory + start).initializeMemory(as: UInt8.self, repeating: 0, count: Int(room))
            count += Int(room)
            seal(start, .pad, payloadLength: Int(room) - FrameHeader.Layout.size)
        }
        ensure(FrameHeader.Layout.size)
        (memory + count).initializeMemory(as: UInt8.self, repeating: 0, count: FrameHeader.Layout.size)
        openFrame = count
        firstFrame = firstFrame ?? position
        count += FrameHeader.Layout.size
    }

    @discardableResult
    private func seal(_ start: Int, _ kind: FrameKind, payloadLength: Int) -> FramePointer {
        let offset = base + UInt64(start)
        let checksum = FrameHeader.seal(
            memory + start, kind: kind, payloadLength: payloadLength, sequence: sequence, fileID: file.identity.fileID, offset: offset)
        frameCount += 1
        sealed.append(offset)
        return FramePointer(offset: offset, checksum: checksum)
    }

    /// Ends the open frame.
    @discardableResult
    private func close(_ kind: FrameKind) -> FramePointer? {
        guard let start = openFrame else { return nil }
        let payloadLength = count - start - FrameHeader.Layout.size
        let length = FrameHeader.length(forPayload: payloadLength)
        let padding = start + length - count
        ensure(padding)
        (memory + count).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        count = start + length
        openFrame = nil
        return seal(start, kind, payloadLength: payloadLength)
    }

    /// Appends a whole frame.
    func appendFrame(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FramePointer {
        precondition(openFrame == nil, "a commit's frame is closed before another frame is appended")
        try open(forPayload: payload.count)
        ensure(payload.count)
        if let bytes = payload.baseAddress { (memory + count).copyMemory(from: bytes, byteCount: payload.count) }
        count += payload.count
        return close(kind) ?? .none
    }

    // MARK: As a sink

    var payloadMax: Int { file.payloadMax }

    func append(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FrameTicket {
        pointers.append(try appendFrame(kind, payload))
        if count >= flushSize { try handOver() }
        return FrameTicket(number: pointers.count - 1)
    }

    /// Does nothing: `append` determines a frame's offset.
    func assignOffsets() {}

    func pointer(_ ticket: FrameTicket) -> FramePointer { pointers[ticket.number] }

    // MARK: Batches

    /// Starts a batch: a frame that contains the length of the frames that follow, up to `endBatch`. Nothing is written in between.
    func beginBatch(bytes: Int) throws(StoreError) {
        ensure(bytes + FrameHeader.lengthMin)
        try open(forPayload: BatchFrame.payloadSize)
        batch = openFrame
        openFrame = nil
        let rest = FrameHeader.length(forPayload: BatchFrame.payloadSize) - FrameHeader.Layout.size
        ensure(rest)
        (memory + count).initializeMemory(as: UInt8.self, repeating: 0, count: rest)
        count += rest
    }

    func endBatch() {
        guard let start = batch else { return }
        let length = UInt64(count - start - FrameHeader.length(forPayload: BatchFrame.payloadSize))
        BatchFrame.write(length: length, to: memory + start + FrameHeader.Layout.size)
        seal(start, .batch, payloadLength: BatchFrame.payloadSize)
        batch = nil
    }

    // MARK: Rows

    /// Begins a commit, in an appender that writes several.
    func beginCommit(_ sequence: UInt64) {
        precondition(openFrame == nil, "a commit ends with its footer")
        self.sequence = sequence
        firstFrame = nil
        partsChecksum = 0
    }

    /// Appends a row record.
    /// - Returns: the row's address.
    func appendRow(
        _ operation: RowRecord.Operation, _ reference: RowReference, body: UnsafeRawBufferPointer, version: UInt32, previous: UInt64
    ) throws(StoreError) -> UInt64 {
        if owns(body) {
            return try withCopy(body) { copy throws(StoreError) in
                try appendRow(operation, reference, body: copy, version: version, previous: previous)
            }
        }
        let size = RowRecord.size(ofBody: body.count, version: version, previous: previous)
        if let start = openFrame {
            let used = count - start
            let isFull = used + size > RowRecord.frameTarget && used > FrameHeader.Layout.size
            let length = FrameHeader.length(forPayload: used - FrameHeader.Layout.size + size)
            if isFull || UInt64(length) > file.room(at: base + UInt64(start)) { try closeRows() }
        }
        if openFrame == nil { try open(forPayload: size) }
        ensure(size)
        let start = openFrame ?? count
        let at = count
        let bodyOffset = RowRecord.write(
            to: memory + at, operation, reference, bodyLength: body.count, distance: at - start, version: version, previous: previous)
        if let bytes = body.baseAddress { (memory + at + bodyOffset).copyMemory(from: bytes, byteCount: body.count) }
        count += size
        return base + UInt64(at)
    }

    /// Ends the open frame of rows, if there is one; the next row begins another.
    func closeRows() throws(StoreError) {
        if let frame = close(.rows) { partsChecksum = CommitFooter.folding(partsChecksum, frame.checksum) }
        if count >= flushSize { try handOver() }
    }

    /// Appends a frame of a value to the commit.
    func appendValueFrame(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FramePointer {
        try closeRows()
        let frame = try owns(payload) ? withCopy(payload) { copy throws(StoreError) in try appendFrame(kind, copy) } : appendFrame(kind, payload)
        partsChecksum = CommitFooter.folding(partsChecksum, frame.checksum)
        if count >= flushSize { try handOver() }
        return frame
    }

    /// Whether these bytes are a row of this transaction, in the memory that may move.
    private func owns(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        return start >= UnsafeRawPointer(memory) && start < UnsafeRawPointer(memory + buffer.capacity)
    }

    private func withCopy<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyMemory(from: bytes)
        return try body(UnsafeRawBufferPointer(copy))
    }

    /// Writes all appended bytes; the next row begins another frame.
    func flushRows() throws(StoreError) {
        try closeRows()
        try flush()
    }

    /// Ends the rows of a commit that another store decides about; its commit frame may follow.
    /// - Parameter footer: the commit's footer; this function sets its start and its parts' checksum.
    func appendPrepared(_ record: PreparedRecord, _ footer: CommitFooter, author: [UInt8]) throws(StoreError) -> FramePointer {
        try closeRows()
        var footer = footer
        footer.start = firstFrame ?? position
        footer.partsChecksum = partsChecksum
        let frame = try record.payload(footer, author: author).withUnsafeBufferPointer { bytes throws(StoreError) in
            try appendFrame(.prepared, UnsafeRawBufferPointer(bytes))
        }
        // The commit frame must fit once the decision is made.
        guard position + Self.completionSizeMax <= file.sizeMax else { throw file.full() }
        partsChecksum = CommitFooter.folding(partsChecksum, frame.checksum)
        return frame
    }

    /// The size of a commit frame without rows, and of a pad of the same length before it.
    static let completionSizeMax: UInt64 = 4096

    /// Continues a commit whose frames are in the file, except its commit frame.
    func resume(start: UInt64, partsChecksum: UInt64) {
        firstFrame = start
        self.partsChecksum = partsChecksum
    }

    /// Ends the commit.
    /// - Parameter footer: this function sets its start and its parts' checksum.
    /// - Returns: the commit frame.
    func appendFooter(_ footer: CommitFooter, author: [UInt8]) throws(StoreError) -> FramePointer {
        let size = CommitFooter.Layout.size + author.count
        if let start = openFrame {
            let length = FrameHeader.length(forPayload: count - start - FrameHeader.Layout.size + size)
            if UInt64(length) > file.room(at: base + UInt64(start)) { try closeRows() }
        }
        if openFrame == nil { try open(forPayload: size) }
        ensure(size)
        author.withUnsafeBytes { if let bytes = $0.baseAddress { (memory + count).copyMemory(from: bytes, byteCount: $0.count) } }
        var footer = footer
        footer.start = firstFrame ?? footer.start
        footer.partsChecksum = partsChecksum
        footer.write(to: memory + count + author.count)
        count += size
        return close(.commit) ?? .none
    }

    /// The row at `address`, which this transaction appended; valid until the next append.
    func row(at address: UInt64) throws(StoreError) -> (record: RowRecord, body: UnsafeRawPointer) {
        guard address >= base else {
            if address >= writtenEnd { try settle() }
            return try file.record(at: address, end: base)
        }
        let at = Int(address - base)
        let pointer = UnsafeRawPointer(memory + at)
        guard let record = RowRecord(pointer, limit: count - at) else {
            throw StoreError.corrupt(file.path, at: address, "a row of this transaction cannot be read back")
        }
        return (record, pointer + record.bodyOffset)
    }

    // MARK: Writing

    /// Writes the gathered bytes. Called at a frame's end.
    func flush() throws(StoreError) { try flush { bytes throws(StoreError) in try file.storage.write(bytes, at: base) } }

    /// Writes the gathered bytes and waits until they are on the disk.
    func flushDurably() throws(StoreError) { try flush { bytes throws(StoreError) in try file.storage.writeDurably(bytes, at: base) } }

    private func flush(_ write: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
        try settle()
        guard count > 0 else { return }
        try remembering(from: base) { () throws(StoreError) in try write(UnsafeRawBufferPointer(start: memory, count: count)) }
        wrote(sealed, frameCount: frameCount, from: base, count)
        goOn()
    }

    /// Hands the gathered bytes over to a background write. Called at a frame's end.
    private func handOver() throws(StoreError) {
        try settle()
        let full = spare ?? FrameBuffer()
        spare = full
        buffer.exchange(with: full)
        behind = (BackgroundWrite(file.storage, full.memory, count, at: base, isSyncedSoon: isSyncedSoon), sealed, frameCount)
        goOn()
    }

    /// Waits until the background write has ended.
    /// - Throws: the error of this write or of an earlier one. The appender cannot be used after it.
    func settle() throws(StoreError) {
        if let failure { throw failure }
        guard let behind else { return }
        self.behind = nil
        try remembering(from: behind.piece.offset) { () throws(StoreError) in try behind.piece.finish() }
        wrote(behind.sealed, frameCount: behind.frameCount, from: behind.piece.offset, behind.piece.count)
    }

    /// Runs a write, and keeps its error.
    private func remembering(from offset: UInt64, _ write: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try write()
        } catch {
            (failure, failedFrom) = (error, offset)
            throw error
        }
    }

    private func wrote(_ sealed: [UInt64], frameCount: Int, from offset: UInt64, _ count: Int) {
        counters.appended(frames: frameCount, bytes: count)
        file.wrote(sealed, from: offset, to: offset + UInt64(count))
    }

    /// Moves `base` past the bytes that were written or handed over.
    private func goOn() {
        frameCount = 0
        sealed.removeAll(keepingCapacity: true)
        base += UInt64(count)
        count = 0
    }
}
