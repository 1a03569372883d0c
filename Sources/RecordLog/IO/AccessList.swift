import Platform

#if os(Linux) || os(Android)

    /// The POSIX access control list of a file, as the system keeps it. Where a file has one, the group's permissions are its mask.
    ///
    /// The calls are looked for by name, since not every C library's module shows them. Where there are none, no file has a list.
    enum AccessList {
        private typealias Get = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
        private typealias Set = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
        private typealias Remove = @convention(c) (Int32, UnsafePointer<CChar>) -> Int32

        private static let get: Get? = dlsym(nil, "fgetxattr").map { unsafeBitCast($0, to: Get.self) }
        private static let set: Set? = dlsym(nil, "fsetxattr").map { unsafeBitCast($0, to: Set.self) }
        private static let remove: Remove? = dlsym(nil, "fremovexattr").map { unsafeBitCast($0, to: Remove.self) }
        private static let name = "system.posix_acl_access"

        /// nil where the file has none, or the file system knows of none.
        static func read(_ descriptor: Int32) -> [UInt8]? {
            guard let get else { return nil }
            let size = get(descriptor, name, nil, 0)
            guard size > 0 else { return nil }
            var list = [UInt8](repeating: 0, count: size)
            let count = get(descriptor, name, &list, size)
            return count > 0 ? Array(list.prefix(count)) : nil
        }

        /// - Parameter list: nil takes away what the file has from its directory.
        /// - Returns: whether the file has this list now.
        static func write(_ list: [UInt8]?, _ descriptor: Int32) -> Bool {
            guard let list else { return remove.map { $0(descriptor, name) == 0 } ?? false }
            return set.map { $0(descriptor, name, list, list.count, 0) == 0 } ?? false
        }
    }
#endif
