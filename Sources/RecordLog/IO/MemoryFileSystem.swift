import Synchronization

/// Files in memory, for in-memory stores and for tests. Nothing survives the file system object.
public final class MemoryFileSystem: FileSystem {
    private let files = Mutex<[String: MemoryFile]>([:])
    private let nextInode = Atomic<UInt64>(1)

    public init() {}

    public func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let result: Result<any StorageFile, StoreError> = files.withLock { files in
            switch (mode, files[path]) {
            case (.create, _?), (.createPrivate, _?):
                return .failure(StoreError(.exists, path: path, "the file exists", remedy: "Choose another path."))
            case (.create, nil), (.createPrivate, nil):
                let inode = nextInode.wrappingAdd(1, ordering: .relaxed).oldValue
                let file = MemoryFile(path: path, identity: FileSystemIdentity(device: 0, inode: inode))
                files[path] = file
                return .success(MemoryFileHandle(file))
            case (_, let file?): return .success(MemoryFileHandle(file))
            case (_, nil):
                return .failure(StoreError(.notFound, path: path, "there is no such file", remedy: "Check the path."))
            }
        }
        return try result.get()
    }

    public func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
        files.withLock { $0[path]?.identity }
    }

    public func rename(_ old: String, to new: String) throws(StoreError) {
        let isDone = files.withLock { files in
            guard let file = files.removeValue(forKey: old) else { return false }
            files[new] = file
            return true
        }
        guard isDone else { throw StoreError(.notFound, path: old, "there is no such file", remedy: "Check the path.") }
    }

    public func remove(_ path: String) throws(StoreError) {
        files.withLock { _ = $0.removeValue(forKey: path) }
    }

    public func syncDirectory(of path: String) throws(StoreError) {}

    public func freeSpace(at path: String) -> UInt64? { nil }

    public var outlivesProcess: Bool { false }

    public func now() -> Int64 { SystemClock.now() }

    public func random() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

    /// The bytes of a file, for tests that damage them.
    public func contents(of path: String) -> [UInt8]? {
        files.withLock { $0[path] }?.contents()
    }

    /// Makes a file with these bytes, in place of any that was there.
    public func setContents(of path: String, to bytes: [UInt8]) {
        let inode = nextInode.wrappingAdd(1, ordering: .relaxed).oldValue
        let file = MemoryFile(path: path, identity: FileSystemIdentity(device: 0, inode: inode))
        bytes.withUnsafeBytes { file.write($0, at: 0) }
        files.withLock { $0[path] = file }
    }
}

/// The bytes of a file, in chunks that never move: a mapping is a pointer into a chunk.
///
/// Concurrent reads of bytes that are not being written are safe, as with a mapped file.
final class MemoryFile: Sendable {
    /// The largest segment a store may have, so that a segment never crosses a chunk.
    private static let chunkShift: UInt64 = 30

    private struct State: @unchecked Sendable {
        // Unchecked: the chunks' memory is shared as a mapped file's is; see the type's comment.
        var chunks: [UnsafeMutableRawPointer] = []
        var size: UInt64 = 0
        var isLocked = false
    }

    let path: String
    let identity: FileSystemIdentity
    private let state = Mutex(State())

    init(path: String, identity: FileSystemIdentity) {
        self.path = path
        self.identity = identity
    }

    deinit {
        state.withLock { state in
            for chunk in state.chunks { LazyMemory.release(chunk, 1 << Int(Self.chunkShift)) }
        }
    }

    private static func chunk(_ offset: UInt64, _ state: inout State) -> UnsafeMutableRawPointer {
        while state.chunks.count <= Int(offset >> chunkShift) {
            state.chunks.append(LazyMemory.zeroed(1 << Int(chunkShift)))
        }
        return state.chunks[Int(offset >> chunkShift)]
    }

    var size: UInt64 { state.withLock { $0.size } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
        nonisolated(unsafe) let bytes = bytes
        state.withLock { state in
            var done = 0
            while done < bytes.count {
                let at = offset + UInt64(done)
                let within = Int(at & ((1 << Self.chunkShift) - 1))
                let count = min(bytes.count - done, (1 << Int(Self.chunkShift)) - within)
                (Self.chunk(at, &state) + within).copyMemory(from: bytes.baseAddress! + done, byteCount: count)
                done += count
            }
            state.size = max(state.size, offset + UInt64(bytes.count))
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        nonisolated(unsafe) let buffer = buffer
        return state.withLock { state in
            guard offset < state.size else { return 0 }
            let total = Int(min(UInt64(buffer.count), state.size - offset))
            var done = 0
            while done < total {
                let at = offset + UInt64(done)
                let within = Int(at & ((1 << Self.chunkShift) - 1))
                let count = min(total - done, (1 << Int(Self.chunkShift)) - within)
                (buffer.baseAddress! + done).copyMemory(from: Self.chunk(at, &state) + within, byteCount: count)
                done += count
            }
            return total
        }
    }

    func truncate(to size: UInt64) {
        state.withLock { state in
            var at = size
            while at < state.size {
                let within = Int(at & ((1 << Self.chunkShift) - 1))
                let count = min(Int(state.size - at), (1 << Int(Self.chunkShift)) - within)
                LazyMemory.clear(Self.chunk(at, &state) + within, count)
                at += UInt64(count)
            }
            state.size = size
        }
    }

    func tryLock() -> Bool {
        state.withLock { state in
            guard !state.isLocked else { return false }
            state.isLocked = true
            return true
        }
    }

    func unlock() {
        state.withLock { $0.isLocked = false }
    }

    func map(offset: UInt64) -> UnsafeRawPointer {
        let address = state.withLock { state in
            UInt(bitPattern: Self.chunk(offset, &state) + Int(offset & ((1 << Self.chunkShift) - 1)))
        }
        return UnsafeRawPointer(bitPattern: address)!
    }

    func contents() -> [UInt8] {
        let count = Int(size)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
    }
}

/// One opening of a memory file: locks are by opening, as `flock`'s are.
final class MemoryFileHandle: StorageFile {
    private let file: MemoryFile
    private let holdsLock = Atomic<Bool>(false)

    init(_ file: MemoryFile) {
        self.file = file
    }

    deinit {
        unlock()
    }

    var identity: FileSystemIdentity { file.identity }
    func size() throws(StoreError) -> UInt64 { file.size }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int { file.read(into: buffer, at: offset) }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) { file.write(bytes, at: offset) }
    func truncate(to size: UInt64) throws(StoreError) { file.truncate(to: size) }
    func sync() throws(StoreError) {}

    func lock(timeout: Duration) throws(StoreError) {
        let deadline = ContinuousClock.now + timeout
        while !file.tryLock() {
            guard ContinuousClock.now < deadline else {
                throw StoreError(
                    .locked, path: file.path, "another writer held the lock for \(timeout)",
                    remedy: "Wait for it to finish, or raise the lock timeout.")
            }
            LazyMemory.pause()
        }
        holdsLock.store(true, ordering: .relaxed)
    }

    func unlock() {
        if holdsLock.exchange(false, ordering: .relaxed) { file.unlock() }
    }

    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { file.map(offset: offset) }
}
