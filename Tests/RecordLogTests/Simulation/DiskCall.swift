/// A call that changes a disk: what can fail, be cut short by a loss of power, and wait for a sync.
enum DiskCall: Sendable {
    case create(path: String, inode: UInt64)
    case rename(String, to: String)
    case remove(String)
    case syncDirectory
    case write(inode: UInt64, offset: UInt64, bytes: [UInt8])
    case truncate(inode: UInt64, size: UInt64)
    case sync(inode: UInt64)

    enum Kind: Equatable, Sendable {
        case create, rename, remove, syncDirectory, write, truncate, sync
    }

    var kind: Kind {
        switch self {
        case .create: .create
        case .rename: .rename
        case .remove: .remove
        case .syncDirectory: .syncDirectory
        case .write: .write
        case .truncate: .truncate
        case .sync: .sync
        }
    }
}
