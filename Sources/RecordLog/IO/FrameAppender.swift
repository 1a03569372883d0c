/// Lays out frames in memory as they will lie in the file, and writes them there in large pieces.
///
/// Invariants:
/// 1. The byte at `count` goes to the file's byte `base + count`, so addresses are final when a row is laid down.
/// 2. No frame crosses a segment's end: a pad fills what is left.
/// 3. What is flushed lies behind the published end; nobody reads it until a commit or checkpoint is published.
/// 4. Below `writtenEnd` everything is in the file; from there to `base` lies at most one piece on its way there.
final class FrameAppender: CheckpointFrameSink {
    private let file: LogFile
    private(set) var base: UInt64
    private let buffer: FrameBuffer
    private(set) var count = 0
    /// What was handed over to be written, and the frames in it.
    private var behind: (piece: BackgroundWrite, sealed: [UInt64], frameCount: Int)?
    /// Its memory, once it is needed.
    private var spare: FrameBuffer?
    /// Where the open frame starts in memory; nil between frames.
    private var openFrame: Int?
    /// The commit that frames are stamped with.
    private var sequence: UInt64
    private var frameCount = 0
    /// Where the commit's first frame is: behind the pad, where one was needed. The footer carries it.
    private var firstFrame: UInt64?
    /// Of the frames of rows and values so far; the footer carries it.
    private var partsChecksum: UInt64 = 0
    private var sealed: [UInt64] = []
    private var pointers: [FramePointer] = []
    /// Where the open batch's frame lies in memory.
    private var batch: Int?
    /// A write that failed: the handle must not go on as if nothing had happened.
    private(set) var failure: StoreError?
    /// Where what could not be written begins.
    private var failedFrom: UInt64?
    private let counters: Counters

    /// Written once so much has gathered.
    private let flushSize: Int
    /// Whether everything is synced in the end.
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

    /// Up to here the file has what was laid down.
    var writtenEnd: UInt64 { failedFrom ?? behind?.piece.offset ?? base }

    /// Where the next byte goes.
    var position: UInt64 { base + UInt64(count) }
    var logEnd: UInt64 { position }

    @inline(__always)
    private var memory: UnsafeMutableRawPointer { buffer.memory }

    @inline(__always)
    private func ensure(_ more: Int) { buffer.ensure(more, after: count) }

    // MARK: Frames

    /// Refuses what no frame can hold, before anything is changed.
    func checkFits(payload: Int) throws(StoreError) {
        let most = min(file.segmentSize - FileFormat.dataStart, UInt64(RowRecord.bodyLengthMax))
        guard UInt64(payload) <= most, UInt64(FrameHeader.length(forPayload: payload)) <= most else {
            throw StoreError(
                .tooLarge, path: file.path, "one value of \(payload) bytes is larger than a frame of this store holds",
                remedy: "Keep values of more than \(most >> 10) KiB outside the store, or make it with larger segments.")
        }
    }

    /// Begins a frame with room for `payload` bytes in this segment; pads to the next one where there is none.
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

    /// Lays down a frame.
    func place(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FramePointer {
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
        pointers.append(try place(kind, payload))
        if count >= flushSize { try handOver() }
        return FrameTicket(number: pointers.count - 1)
    }

    /// A frame has its place from the beginning.
    func place() {}

    func pointer(_ ticket: FrameTicket) -> FramePointer { pointers[ticket.number] }

    // MARK: Batches

    /// Starts a batch: a frame that will say how much follows it, up to `endBatch`. Nothing is written in between.
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

    /// What follows belongs to this commit: for an appender that lays down several.
    func beginCommit(_ sequence: UInt64) {
        precondition(openFrame == nil, "a commit ends with its footer")
        self.sequence = sequence
        firstFrame = nil
        partsChecksum = 0
    }

    /// Lays down a row record.
    /// - Returns: its address.
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

    /// Ends the open frame of rows, if any; the next row begins another.
    func closeRows() throws(StoreError) {
        if let frame = close(.rows) { partsChecksum = CommitFooter.folding(partsChecksum, frame.checksum) }
        if count >= flushSize { try handOver() }
    }

    /// Lays down a frame of a value, as a part of the commit.
    func placeValue(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(StoreError) -> FramePointer {
        try closeRows()
        let frame = try owns(payload) ? withCopy(payload) { copy throws(StoreError) in try place(kind, copy) } : place(kind, payload)
        partsChecksum = CommitFooter.folding(partsChecksum, frame.checksum)
        if count >= flushSize { try handOver() }
        return frame
    }

    /// Whether these bytes are of a row of this transaction itself, in the memory that is about to move.
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

    /// Writes everything laid down so far; the next row begins another frame.
    func flushRows() throws(StoreError) {
        try closeRows()
        try flush()
    }

    /// Ends the rows of a commit that another store decides about; its commit frame may follow.
    /// - Parameter footer: the commit's; its start and its parts' checksum are filled in here.
    func appendPrepared(_ record: PreparedRecord, _ footer: CommitFooter, author: [UInt8]) throws(StoreError) -> FramePointer {
        try closeRows()
        var footer = footer
        footer.start = firstFrame ?? position
        footer.partsChecksum = partsChecksum
        let frame = try record.payload(footer, author: author).withUnsafeBufferPointer { bytes throws(StoreError) in
            try place(.prepared, UnsafeRawBufferPointer(bytes))
        }
        // Once it is decided the commit frame must have its place.
        guard position + Self.completionSizeMax <= file.sizeMax else { throw file.full() }
        partsChecksum = CommitFooter.folding(partsChecksum, frame.checksum)
        return frame
    }

    /// A commit frame without rows, and a pad as long before it.
    static let completionSizeMax: UInt64 = 4096

    /// Goes on with a commit whose frames are in the file, but for its commit frame.
    func resume(start: UInt64, partsChecksum: UInt64) {
        firstFrame = start
        self.partsChecksum = partsChecksum
    }

    /// Ends the commit.
    /// - Parameter footer: its start and its parts' checksum are filled in here.
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

    /// The row laid down at `address`, which is valid until the next one is.
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

    /// Writes what has gathered, at a frame's end.
    func flush() throws(StoreError) { try flush { bytes throws(StoreError) in try file.storage.write(bytes, at: base) } }

    /// The same, and waits until it is on the disk.
    func flushDurably() throws(StoreError) { try flush { bytes throws(StoreError) in try file.storage.writeDurably(bytes, at: base) } }

    private func flush(_ write: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws(StoreError) {
        try settle()
        guard count > 0 else { return }
        try remembering(from: base) { () throws(StoreError) in try write(UnsafeRawBufferPointer(start: memory, count: count)) }
        wrote(sealed, frameCount: frameCount, from: base, count)
        goOn()
    }

    /// Has what has gathered written while more is laid down, at a frame's end.
    private func handOver() throws(StoreError) {
        try settle()
        let full = spare ?? FrameBuffer()
        spare = full
        buffer.exchange(with: full)
        behind = (BackgroundWrite(file.storage, full.memory, count, at: base, isSyncedSoon: isSyncedSoon), sealed, frameCount)
        goOn()
    }

    /// Waits until what was handed over is in the file.
    /// - Throws: what its write threw, or one before; the appender cannot be used any more then.
    func settle() throws(StoreError) {
        if let failure { throw failure }
        guard let behind else { return }
        self.behind = nil
        try remembering(from: behind.piece.offset) { () throws(StoreError) in try behind.piece.finish() }
        wrote(behind.sealed, frameCount: behind.frameCount, from: behind.piece.offset, behind.piece.count)
    }

    /// Writes, and keeps what that threw.
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

    /// Goes on behind what was written or handed over.
    private func goOn() {
        frameCount = 0
        sealed.removeAll(keepingCapacity: true)
        base += UInt64(count)
        count = 0
    }
}
