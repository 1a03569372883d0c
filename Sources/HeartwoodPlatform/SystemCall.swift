#if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// Helpers of the calls of the system.
    package enum SystemCall {
        /// Repeats a call that a signal interrupted.
        @inlinable
        package static func retry<Result: FixedWidthInteger>(_ call: () -> Result) -> Result {
            while true {
                let result = call()
                if result != -1 || errno != EINTR { return result }
            }
        }

        /// Repeats a call that may transfer less than requested, or be interrupted, until all is transferred.
        /// - Parameter call: gets the number of bytes transferred so far and returns the number of further bytes; 0 at an end, -1 for an error.
        /// - Returns: the number of bytes transferred, and the error number if a call failed.
        @inlinable
        package static func transfer(_ count: Int, _ call: (Int) -> Int) -> (done: Int, code: Int32?) {
            var done = 0
            while done < count {
                let more = retry { call(done) }
                guard more >= 0 else { return (done, errno) }
                if more == 0 { break }
                done += more
            }
            return (done, nil)
        }

        /// The text of a failed call.
        package static func message(_ call: String, _ code: Int32) -> String { "\(call) failed: \(String(cString: strerror(code)))" }

        /// The directory part of a path.
        package static func directory(of path: String) -> String {
            guard let slash = path.lastIndex(of: "/") else { return "." }
            return slash == path.startIndex ? "/" : String(path[..<slash])
        }

        /// The path with symbolic links followed.
        /// - Returns: nil with `errno` if a part of it is missing or may not be read.
        package static func resolved(_ path: String) -> String? {
            guard let found = realpath(path, nil) else { return nil }
            defer { free(found) }
            return String(cString: found)
        }

        #if os(Linux) || os(Android)
            package typealias FileSystemSync = @convention(c) (Int32) -> Int32
            /// Headers declare the call only for GNU sources.
            package static let syncFileSystem: FileSystemSync? = dlsym(nil, "syncfs").map { unsafeBitCast($0, to: FileSystemSync.self) }
        #endif
    }

    /// The error of a failed call. Each kind of file has an error of its own, with its remedies.
    package protocol SystemCallError: Error {
        static func system(_ call: String, _ path: String, at offset: UInt64?, _ code: Int32) -> Self
    }

    extension SystemCallError {
        package static func system(_ call: String, _ path: String, _ code: Int32) -> Self { system(call, path, at: nil, code) }
    }
#endif
