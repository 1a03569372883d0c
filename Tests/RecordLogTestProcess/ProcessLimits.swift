#if os(Linux)
    import Foundation
    import RecordLog

    /// Limits of a process and shared resources: file size, address space, permission to read a directory, and a handle inherited from the parent.
    ///
    /// Each function throws with a description if the store misbehaves.
    enum ProcessLimits {
        struct Failure: Error, CustomStringConvertible {
            let description: String
        }

        private static func expect(_ condition: Bool, _ what: String) throws {
            guard condition else { throw Failure(description: what) }
        }

        private static func fill(_ store: LogStore, _ number: Int, count: Int) throws {
            try store.write { try $0.setSystemValue(UInt64(20 + number % 40), [UInt8](repeating: UInt8(number % 256), count: count)) }
        }

        private static func failure(_ body: () throws -> Void) -> StoreError? {
            do { try body() } catch { return error as? StoreError }
            return nil
        }

        // MARK: A limit of file sizes

        /// A save exceeds the limit, with SIGXFSZ too: nothing is lost, and the same handle continues once the limit is raised.
        static func fileSize(_ path: String) throws {
            let store = try LogStore.open(path: path)
            try fill(store, 0, count: 100)
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            getrlimit(resource, &limit)
            let whole = limit
            limit.rlim_cur = 300_000
            setrlimit(resource, &limit)
            var number = 0, error: StoreError?
            while error == nil, number < 2000 {
                number += 1
                error = failure { try fill(store, number, count: 900) }
            }
            try expect(error?.code == .noSpace && error?.systemErrno == EFBIG, "\(String(describing: error))")
            try expect(error?.remedy.contains("ulimit -f") == true, "\(String(describing: error))")
            let saved = store.snapshot().sequence
            var raised = whole
            setrlimit(resource, &raised)
            try fill(store, 1, count: 900)
            try expect(store.snapshot().sequence == saved + 1, "a save after the limit was raised")
            try store.close()
            try expect(try StoreVerification.verify(path: path).isSound, "the file after it")
        }

        // MARK: A limit of addresses

        /// A small store in memory takes little address space, and its error says what is missing when there is none.
        static func memory() throws {
            var limit = rlimit()
            let used = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first.flatMap { Int($0) } ?? 0
            limit.rlim_cur = UInt(used * sysconf(Int32(_SC_PAGESIZE))) + 400 << 20
            limit.rlim_max = limit.rlim_cur
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            var options = StoreOptions()
            options.fileSystem = MemoryFileSystem()
            let store = try LogStore.open(path: "memory", options: options)
            try fill(store, 0, count: 900)
            var stores: [LogStore] = [], error: StoreError?
            while error == nil, stores.count < 100 {
                error = failure {
                    let another = try LogStore.open(path: "memory \(stores.count)", options: options)
                    try fill(another, 1, count: 900)
                    stores.append(another)
                }
            }
            try expect(error?.code == .noSpace || error?.code == .io, "\(String(describing: error))")
            // The first store continues.
            try fill(store, 1, count: 900)
        }

        // MARK: A directory that cannot be read

        static func unreadable(_ directory: String) throws {
            chmod(directory, 0o777)
            if geteuid() == 0 {
                try expect(chown(directory, 65534, 65534) == 0 && setgid(65534) == 0 && setuid(65534) == 0, "to be an ordinary user")
            }
            try expect(chmod(directory, 0o300) == 0, "the mode of the directory")
            defer { chmod(directory, 0o777) }
            let path = directory + "/store"
            let store = try LogStore.open(path: path)
            try fill(store, 0, count: 100)
            try store.compact()
            try fill(store, 1, count: 100)
            try store.compact()
            try store.copy(to: directory + "/copy")
            try store.close()
            let again = try LogStore.open(path: path)
            try fill(again, 2, count: 100)
            try again.close()
            try LogStore.remove(path: directory + "/copy")
        }

        // MARK: A child

        /// Both sides of a fork use the handle: the child is refused and does no damage.
        static func fork(_ path: String) throws {
            typealias Call = @convention(c) () -> Int32
            guard let found = dlsym(nil, "fork") else { throw Failure(description: "there is no fork") }
            let fork = unsafeBitCast(found, to: Call.self)
            let store = try LogStore.open(path: path)
            for number in 0..<50 { try fill(store, number, count: 100) }
            let child = fork()
            if child == 0 { _exit(inChild(store, path)) }
            for number in 0..<50 { try fill(store, number, count: 100) }
            try expect(try wait(for: child) == 0, "the child")
            // During a write the parent keeps its lock, whatever the child does with the handle.
            var options = StoreOptions()
            options.lockTimeout = .milliseconds(50)
            let other = try LogStore.open(path: path, options: options)
            var isChild = false
            do {
                try store.write { transaction in
                    try transaction.setSystemValue(20, [1])
                    let second = fork()
                    isChild = second == 0
                    guard !isChild else { return }
                    try expect(try wait(for: second) == 0, "the child within a write")
                    try expect(failure { try fill(other, 1, count: 10) }?.code == .locked, "the parent's lock")
                }
            } catch let error as StoreError where isChild {
                _exit(error.code == .closed ? 0 : 4)
            }
            if isChild { _exit(5) }
            try expect(store.snapshot().sequence == 101, "commits: \(store.snapshot().sequence)")
            try store.close()
            let report = try StoreVerification.verify(path: path)
            try expect(report.isSound, "\(report)")
        }

        private static func wait(for child: Int32) throws -> Int32 {
            var status: Int32 = 0
            let deadline = ContinuousClock.now + .seconds(20)
            while waitpid(child, &status, WNOHANG) == 0 {
                guard ContinuousClock.now < deadline else {
                    kill(child, SIGKILL)
                    throw Failure(description: "the child waits for ever")
                }
                // No system call waits for a child and for a time.
                usleep(1000)
            }
            return status
        }

        /// - Returns: the child's exit code.
        private static func inChild(_ store: LogStore, _ path: String) -> Int32 {
            let refused: [() throws -> Void] = [
                { try fill(store, 1, count: 10) }, { try store.checkpoint() }, { try store.compact() }, { try store.sync() },
                { _ = try store.refresh() }, { try store.rebuildIndexes() },
            ]
            for (index, body) in refused.enumerated() {
                guard let error = failure(body), error.code == .closed, error.message.contains("fork()") else { return Int32(10 + index) }
            }
            guard store.snapshot().sequence == 50, (try? store.close()) != nil else { return 30 }
            // The child must open a handle of its own.
            var options = StoreOptions()
            options.isReadOnly = true
            return (try? LogStore.open(path: path, options: options)) == nil ? 31 : 0
        }
    }
#endif
