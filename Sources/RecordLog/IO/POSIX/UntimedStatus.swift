#if os(Linux) || os(Android)
    import HeartwoodPlatform

    /// Finds the identity of a path's file without reading the file's times.
    ///
    /// Linux (6.13 and later, "multigrain timestamps") gives a file whose times were read a finer one at its next write, which makes the
    /// inode dirty: a sync after one small write takes half as long again. `stat` and `fstat` read the times; `statx` reads only what the
    /// caller requests. Headers declare it only for GNU sources, so it is looked up at run time; without it, `stat` is called.
    enum UntimedStatus {
        private typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

        private static let call: Call? = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

        /// The kernel's structure (linux/stat.h), the same on every processor.
        private enum Layout {
            static let size = 256, mask = 0, inode = 32, major = 136, minor = 140
            static let inodeIsThere: UInt32 = 0x100
        }

        /// - Returns: nil if the system does not support the call, or it fails: `stat` returns the error.
        static func identity(of path: String) -> FileSystemIdentity? {
            guard let call else { return nil }
            return withUnsafeTemporaryAllocation(byteCount: Layout.size, alignment: 8) { buffer in
                guard let status = buffer.baseAddress, call(AT_FDCWD, path, 0, Layout.inodeIsThere, status) == 0,
                    status.load(fromByteOffset: Layout.mask, as: UInt32.self) & Layout.inodeIsThere != 0
                else { return nil }
                let major = UInt64(status.load(fromByteOffset: Layout.major, as: UInt32.self))
                let minor = UInt64(status.load(fromByteOffset: Layout.minor, as: UInt32.self))
                // The encoding of `st_dev`.
                return FileSystemIdentity(
                    device: minor & 0xff | (major & 0xfff) << 8 | (minor & ~0xff) << 12 | (major & ~0xfff) << 32,
                    inode: status.load(fromByteOffset: Layout.inode, as: UInt64.self))
            }
        }
    }
#endif
