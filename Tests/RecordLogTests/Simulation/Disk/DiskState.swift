@testable import RecordLog

/// The durable state of a disk and the state that the processor sees, for files and for names. The journals between the two have the unsynced
/// changes.
struct DiskState: Sendable {
    struct File: Sendable {
        /// The content for reads and mappings.
        let live: MemoryFile
        var durable: [UInt8] = []
        /// Writes and truncations since the last sync.
        var journal: [DiskCall] = []
        /// The number of failed syncs that lost their pages.
        var failedSyncs = 0

        /// Applies a synced write to the durable content. Unsynced changes of the same bytes are never written; a change of length becomes durable
        /// with it.
        mutating func makeDurable(_ write: DiskCall, _ range: Range<UInt64>) {
            var waiting: [DiskCall] = []
            for change in journal {
                if case .truncate(_, let size) = change {
                    DiskState.apply(change, to: &durable)
                    waiting = waiting.flatMap { $0.without(size..<UInt64.max) }
                } else {
                    waiting.append(change)
                }
            }
            journal = waiting.flatMap { $0.without(range) }
            DiskState.apply(write, to: &durable)
        }
    }

    /// Files by inode; a file without a name stays for handles that have it open.
    var files: [UInt64: File] = [:]
    var names: [String: UInt64] = [:]
    var durableNames: [String: UInt64] = [:]
    /// Creations, renames and removals since the directory's last sync.
    var nameJournal: [DiskCall] = []
    var nextInode: UInt64 = 1

    /// The size of all files that have names.
    var size: UInt64 { names.values.reduce(0) { $0 + (files[$1]?.live.size ?? 0) } }

    mutating func newInode() -> UInt64 {
        defer { nextInode += 1 }
        return nextInode
    }

    mutating func addFile(_ inode: UInt64, path: String, durable: [UInt8] = []) {
        let live = MemoryFile(path: path, identity: FileSystemIdentity(device: 0, inode: inode))
        Self.write(durable, to: live, at: 0)
        files[inode] = File(live: live, durable: durable)
    }

    private static func write(_ bytes: [UInt8], to file: MemoryFile?, at offset: UInt64) {
        do {
            try bytes.withUnsafeBytes { try file?.write($0, at: offset) }
        } catch {
            preconditionFailure("the machine has no memory for the simulated disk: \(error)")
        }
    }

    /// The number of bytes that a call adds to its file.
    func growth(_ call: DiskCall) -> UInt64 {
        guard let (inode, offset, bytes) = call.written, let size = files[inode]?.live.size else { return 0 }
        let end = offset + UInt64(bytes.count)
        return end > size ? end - size : 0
    }

    /// Applies a call to the live state.
    mutating func apply(_ call: DiskCall) {
        switch call {
        case .write(let inode, let offset, let bytes):
            Self.write(bytes, to: files[inode]?.live, at: offset)
        case .syncedWrite(let inode, let offset, let bytes):
            Self.write(bytes, to: files[inode]?.live, at: offset)
            files[inode]?.makeDurable(call, offset..<offset + UInt64(bytes.count))
        case .truncate(let inode, let size):
            files[inode]?.live.truncate(to: size)
        case .sync(let inode):
            for change in files[inode]?.journal ?? [] { Self.apply(change, to: &files[inode]!.durable) }
            files[inode]?.journal = []
        case .syncDirectory:
            durableNames = names
            nameJournal = []
        case .create(let path, let inode):
            addFile(inode, path: path)
            Self.apply(call, to: &names)
        case .rename, .remove:
            Self.apply(call, to: &names)
        }
        journal(call)
    }

    /// Journals a call that a power failure may or may not undo.
    mutating func journal(_ call: DiskCall) {
        switch call {
        case .write(let inode, _, _), .truncate(let inode, _): files[inode]?.journal.append(call)
        case .create, .rename, .remove: nameJournal.append(call)
        case .sync, .syncDirectory, .syncedWrite: break
        }
    }

    /// A failed sync that cannot be repeated: its pages stay readable and never reach the disk.
    mutating func losePages() {
        for inode in files.keys {
            files[inode]?.journal = []
            files[inode]?.failedSyncs += 1
        }
    }

    static func apply(_ change: DiskCall, to names: inout [String: UInt64]) {
        switch change {
        case .create(let path, let inode): names[path] = inode
        case .rename(let old, let new): names[new] = names.removeValue(forKey: old)
        case .remove(let path): names[path] = nil
        case .write, .syncedWrite, .truncate, .sync, .syncDirectory: break
        }
    }

    static func apply(_ change: DiskCall, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(_, let size):
            resize(&bytes, to: Int(size))
        case .write(_, let offset, let new), .syncedWrite(_, let offset, let new):
            let end = Int(offset) + new.count
            if bytes.count < end { resize(&bytes, to: end) }
            // Through libc: loops over bytes are slow in a debug build.
            bytes.withUnsafeMutableBytes { bytes in
                new.withUnsafeBytes { new in UnsafeMutableRawBufferPointer(rebasing: bytes[Int(offset)..<end]).copyMemory(from: new) }
            }
        case .create, .rename, .remove, .sync, .syncDirectory: break
        }
    }

    private static func resize(_ bytes: inout [UInt8], to size: Int) {
        if bytes.count > size { bytes.removeLast(bytes.count - size) }
        if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
    }
}
