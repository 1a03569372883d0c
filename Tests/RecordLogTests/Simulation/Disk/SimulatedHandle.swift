import Synchronization

@testable import RecordLog

/// One open handle of a simulated file.
final class SimulatedHandle: StorageFile {
    private let system: SimulatedFileSystem
    private let inode: UInt64
    private let live: MemoryFile
    private let handle: MemoryFileHandle
    /// The number of the file's failed syncs that this handle has reported.
    private let failuresSeen: Atomic<Int>

    init(_ system: SimulatedFileSystem, inode: UInt64, _ file: DiskState.File) {
        self.system = system
        self.inode = inode
        live = file.live
        handle = MemoryFileHandle(file.live)
        failuresSeen = Atomic(file.failedSyncs)
    }

    var identity: FileSystemIdentity { live.identity }
    func size() throws(StoreError) -> UInt64 { live.size }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
        try system.countRead(live.path)
        return try handle.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        try system.perform(.write(inode: inode, offset: offset, bytes: Array(bytes)), live.path)
    }

    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        try performSync(.syncedWrite(inode: inode, offset: offset, bytes: Array(bytes)))
    }

    func truncate(to size: UInt64) throws(StoreError) {
        try system.perform(.truncate(inode: inode, size: size), live.path)
    }

    func sync() throws(StoreError) { try performSync(.sync(inode: inode)) }

    /// - Throws: also if an earlier sync has failed and this handle has not reported it.
    private func performSync(_ call: DiskCall) throws(StoreError) {
        let isNews = failuresSeen.load(ordering: .relaxed) < system.failedSyncs(of: inode)
        defer { failuresSeen.store(system.failedSyncs(of: inode), ordering: .relaxed) }
        if isNews { throw SimulatedFileSystem.error(.io, live.path) }
        try system.perform(call, live.path)
    }

    func lock(timeout: Duration) throws(StoreError) { try handle.lock(timeout: timeout) }
    func unlock() { handle.unlock() }
    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { try handle.map(offset: offset, length: length) }
}
