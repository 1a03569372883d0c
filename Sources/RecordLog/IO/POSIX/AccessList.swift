import HeartwoodPlatform

#if os(Linux) || os(Android)

    /// The POSIX access control list of a file, in the system's encoding. If a file has one, the group's permission bits are its mask.
    ///
    /// The calls are looked up by name, since not every C library's module declares them. Without them, no file has a list.
    enum AccessList {
        private typealias Get = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
        private typealias Set = @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
        private typealias Remove = @convention(c) (Int32, UnsafePointer<CChar>) -> Int32

        private static let get: Get? = dlsym(nil, "fgetxattr").map { unsafeBitCast($0, to: Get.self) }
        private static let set: Set? = dlsym(nil, "fsetxattr").map { unsafeBitCast($0, to: Set.self) }
        private static let remove: Remove? = dlsym(nil, "fremovexattr").map { unsafeBitCast($0, to: Remove.self) }
        private static let name = "system.posix_acl_access"

        /// nil if the file has no list, or the file system does not support lists.
        static func read(_ descriptor: Int32) -> [UInt8]? {
            guard let get else { return nil }
            let size = get(descriptor, name, nil, 0)
            guard size > 0 else { return nil }
            var list = [UInt8](repeating: 0, count: size)
            let count = get(descriptor, name, &list, size)
            return count > 0 ? Array(list.prefix(count)) : nil
        }

        /// - Parameter list: nil removes the list that the file inherited from its directory.
        /// - Returns: whether the file now has this list.
        static func write(_ list: [UInt8]?, _ descriptor: Int32) -> Bool {
            guard let list else { return remove.map { $0(descriptor, name) == 0 } ?? false }
            return set.map { $0(descriptor, name, list, list.count, 0) == 0 } ?? false
        }
    }
#endif
