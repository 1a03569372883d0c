/// A call that changes a disk: it can fail, be cut short by a power failure, and wait for a sync.
enum DiskCall: Sendable {
    case create(path: String, inode: UInt64)
    case rename(String, to: String)
    case remove(String)
    case syncDirectory
    case write(inode: UInt64, offset: UInt64, bytes: [UInt8])
    /// A write that is durable when it returns, if it needs no other change to be durable.
    case syncedWrite(inode: UInt64, offset: UInt64, bytes: [UInt8])
    case truncate(inode: UInt64, size: UInt64)
    case sync(inode: UInt64)

    enum Kind: Equatable, Sendable {
        case create, rename, remove, syncDirectory, write, syncedWrite, truncate, sync

        /// Whether a file's bytes are durable afterwards.
        var isSync: Bool { self == .sync || self == .syncedWrite }
    }

    var kind: Kind {
        switch self {
        case .create: .create
        case .rename: .rename
        case .remove: .remove
        case .syncDirectory: .syncDirectory
        case .write: .write
        case .syncedWrite: .syncedWrite
        case .truncate: .truncate
        case .sync: .sync
        }
    }

    /// The target of a write, synced or not.
    var written: (inode: UInt64, offset: UInt64, bytes: [UInt8])? {
        switch self {
        case .write(let inode, let offset, let bytes), .syncedWrite(let inode, let offset, let bytes): (inode, offset, bytes)
        default: nil
        }
    }

    /// A synced write as an unsynced one; other calls unchanged.
    var unsynced: DiskCall {
        guard case .syncedWrite(let inode, let offset, let bytes) = self else { return self }
        return .write(inode: inode, offset: offset, bytes: bytes)
    }

    /// The parts of a write outside of a range.
    func without(_ range: Range<UInt64>) -> [DiskCall] {
        guard case .write(let inode, let offset, let bytes) = self else { return [self] }
        let end = offset + UInt64(bytes.count)
        guard offset < range.upperBound, range.lowerBound < end else { return [self] }
        var parts: [DiskCall] = []
        if offset < range.lowerBound {
            parts.append(.write(inode: inode, offset: offset, bytes: Array(bytes[..<Int(range.lowerBound - offset)])))
        }
        if range.upperBound < end {
            parts.append(.write(inode: inode, offset: range.upperBound, bytes: Array(bytes[Int(range.upperBound - offset)...])))
        }
        return parts
    }
}
