import HeartwoodPlatform
import Synchronization

#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)

    final class POSIXFile: StorageFile {
        private let file: SystemFile<StoreError>
        let identity: FileSystemIdentity
        private let fork = ForkGeneration.current
        /// The newest mapping; each one links to an older one.
        private let mappings = Mutex<Mapping?>(nil)
        private let fairness = LockFairness()
        #if os(Linux) || os(Android)
            private let windows = WriteWindows()
        #endif

        private final class Mapping {
            let address: UInt
            let length: Int
            var older: Mapping?

            init(address: UInt, length: Int, older: Mapping?) {
                self.address = address
                self.length = length
                self.older = older
            }
        }

        /// The object closes the file.
        init(_ file: SystemFile<StoreError>, identity: FileSystemIdentity) {
            self.file = file
            self.identity = identity
        }

        private var descriptor: Int32 { file.descriptor }
        private var path: String { file.path }

        deinit {
            mappings.withLock { newest in
                // A loop: a release of the newest would recurse once for each mapping.
                while let mapping = newest {
                    munmap(UnsafeMutableRawPointer(bitPattern: mapping.address), mapping.length)
                    newest = mapping.older
                    mapping.older = nil
                }
            }
            file.close()
        }

        func size() throws(StoreError) -> UInt64 {
            // Not `fstat`, which also reads the times: see `UntimedStatus`.
            let end = lseek(descriptor, 0, SEEK_END)
            guard end >= 0 else { throw StoreError.system("lseek", path, errno) }
            #if os(Linux) || os(Android)
                windows.look(at: UInt64(end))
            #endif
            return UInt64(end)
        }

        func attributes() throws(StoreError) -> FileAttributes? {
            let status = try file.status()
            return FileAttributes(
                permissions: UInt32(status.st_mode & 0o7777), owner: status.st_uid, group: status.st_gid, accessList: accessList())
        }

        func setAttributes(_ attributes: FileAttributes) throws(StoreError) {
            // Only a privileged process may change the owner. The owner may choose any group that it belongs to.
            if fchown(descriptor, attributes.owner, attributes.group) != 0 { _ = fchown(descriptor, uid_t.max, attributes.group) }
            let made = try self.attributes()
            let keepsGroup = made.map { $0.group == attributes.group } ?? true
            var permissions = attributes.narrowed(keepsOwner: made.map { $0.owner == attributes.owner } ?? true, keepsGroup: keepsGroup)
            // The list gives the group's members access as soon as it is set. Without a list, removes the one inherited from the directory.
            let list = keepsGroup ? attributes.accessList : nil
            if list != made?.accessList, !setAccessList(list) { permissions &= ~0o77 }
            // Without their list the bits mean something else, and the list may also deny access.
            if list != attributes.accessList { permissions &= ~0o77 }
            guard SystemCall.retry({ fchmod(descriptor, mode_t(permissions)) }) == 0 else {
                throw StoreError.system("fchmod", path, errno)
            }
        }

        #if os(Linux) || os(Android)
            private func accessList() -> [UInt8]? { AccessList.read(descriptor) }
            private func setAccessList(_ list: [UInt8]?) -> Bool { AccessList.write(list, descriptor) }
        #else
            // Darwin's lists extend the permissions and are not copied: the new file allows fewer users, except those whom a list denies.
            private func accessList() -> [UInt8]? { nil }
            private func setAccessList(_ list: [UInt8]?) -> Bool { true }
        #endif

        func expectOverwriting(_ range: Range<UInt64>) {
            #if os(Linux) || os(Android)
                windows.add(range, descriptor, device: identity.device)
            #endif
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
            try file.read(into: buffer, at: offset)
        }

        var writesBehind: Bool { true }

        /// The parent shares the lock of a file that was opened before a fork: so the child neither writes under it nor releases it.
        private func checkFork() throws(StoreError) {
            guard fork == ForkGeneration.current else { throw ForkGeneration.refusal(path) }
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
            try checkFork()
            #if os(Linux) || os(Android)
                if windows.write(bytes, at: offset) { return }
            #endif
            try file.write(bytes, at: offset)
        }

        #if os(Linux) || os(Android)
            func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
                try checkFork()
                // Only if the file system writes in place: one that copies a block for it may run out of space during the sync.
                if windows.isInPlace(identity.device), let done = SyncedWrite.write(bytes, to: descriptor, at: offset) {
                    if done == bytes.count { return }
                    if done < 0, ![ENOSYS, EOPNOTSUPP, EINVAL].contains(errno) { throw StoreError.system("pwritev2", path, at: offset, errno) }
                }
                try writeAndSync(bytes, at: offset)
            }
        #endif

        func truncate(to size: UInt64) throws(StoreError) {
            try checkFork()
            #if os(Linux) || os(Android)
                windows.suspend()
            #endif
            guard SystemCall.retry({ ftruncate(descriptor, off_t(size)) }) == 0 else { throw StoreError.system("ftruncate", path, errno) }
        }

        func sync() throws(StoreError) { try file.sync() }

        func lock(timeout: Duration) throws(StoreError) {
            try checkFork()
            fairness.rest()
            if SystemCall.retry({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return fairness.take() }
            let deadline = ContinuousClock.now + timeout
            var pause: UInt32 = 50
            while true {
                guard errno == EWOULDBLOCK else { throw StoreError.system("flock", path, errno) }
                guard ContinuousClock.now < deadline else {
                    let holder = LockHolder.find(identity).map { "; it is held by \($0.description)" } ?? ""
                    throw StoreError(
                        .locked, path: path, "another writer held the lock for \(timeout)\(holder)",
                        remedy: "Wait for it to finish, or raise the lock timeout.")
                }
                usleep(pause)
                pause = min(pause * 2, 2000)
                if SystemCall.retry({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return fairness.take() }
            }
        }

        func unlock() {
            guard fork == ForkGeneration.current else { return }
            #if os(Linux) || os(Android)
                windows.suspend()
            #endif
            fairness.release()
            _ = flock(descriptor, LOCK_UN)
        }

        func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer {
            let address = mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, off_t(offset))
            guard let address, address != MAP_FAILED else { throw StoreError.system("mmap", path, at: offset, errno) }
            mappings.withLock { $0 = Mapping(address: UInt(bitPattern: address), length: length, older: $0) }
            return UnsafeRawPointer(address)
        }

        func holders(thisOpening isCounted: Bool) -> [FileHolder]? {
            OpenFiles.holders(of: identity, without: isCounted ? 0 : 1)
        }

        func otherWriters() -> [FileHolder]? { OpenFiles.otherWriters(of: identity) }

        func currentPath() -> String? {
            #if os(Linux) || os(Android)
                return Self.path { readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!, $0.count) }
            #elseif canImport(Darwin)
                return Self.path { fcntl(descriptor, F_GETPATH, $0.baseAddress!) == 0 ? strlen($0.baseAddress!) : -1 }
            #else
                return nil
            #endif
        }

        func willRead(_ range: Range<UInt64>) {
            #if canImport(Darwin)
                var advice = radvisory(ra_offset: off_t(range.lowerBound), ra_count: Int32(clamping: range.count))
                _ = fcntl(descriptor, F_RDADVISE, &advice)
            #else
                _ = posix_fadvise(descriptor, off_t(range.lowerBound), off_t(range.count), POSIX_FADV_WILLNEED)
            #endif
        }

        func isInMemory(_ address: UnsafeRawPointer) -> Bool {
            let page = UnsafeMutableRawPointer(mutating: address.alignedDown(toMultipleOf: Self.pageSize))
            #if canImport(Darwin)
                var state: CChar = 0
            #else
                var state: UInt8 = 0
            #endif
            return mincore(page, 1, &state) == 0 && state & 1 != 0
        }

        private static let pageSize = max(1, sysconf(Int32(_SC_PAGESIZE)))

        #if os(Linux) || os(Android)
            func willSync(_ range: Range<UInt64>) { EarlyWriteback.begin(range, of: descriptor) }
        #endif

        /// - Parameter fill: writes a path and returns its length; -1 if there is none.
        private static func path(_ fill: (UnsafeMutableBufferPointer<CChar>) -> Int) -> String? {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
                let count = fill(buffer)
                guard count > 0, count < buffer.count else { return nil }
                return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
            }
        }
    }
#endif
