// Names that code written for Core Data uses on Apple's platforms, and that Foundation and Dispatch lack elsewhere. Each is disfavoured, so one that
// Foundation gets later, or a program's own, is taken instead.

#if !canImport(Darwin)
    /// Runs the body. There is no pool to drain: off Apple's platforms each object is freed when its last owner lets go of it.
    /// Source: https://developer.apple.com/documentation/objectivec/autoreleasepool(invoking:)
    @_disfavoredOverload
    public func autoreleasepool<Result, Failure: Error>(invoking body: () throws(Failure) -> Result) throws(Failure) -> Result { try body() }

    /// Nanoseconds in a second.
    @_disfavoredOverload
    public let NSEC_PER_SEC: UInt64 = 1_000_000_000
    /// Nanoseconds in a millisecond.
    @_disfavoredOverload
    public let NSEC_PER_MSEC: UInt64 = 1_000_000
    /// Nanoseconds in a microsecond.
    @_disfavoredOverload
    public let NSEC_PER_USEC: UInt64 = 1000
    /// Microseconds in a second.
    @_disfavoredOverload
    public let USEC_PER_SEC: UInt64 = 1_000_000

    /// Returns seconds since 2001-01-01, to measure with.
    @_disfavoredOverload
    public func CFAbsoluteTimeGetCurrent() -> Double { Date.timeIntervalSinceReferenceDate }

    extension UserDefaults {
        /// Does the work of `object(forKey:)`.
        @_disfavoredOverload
        public func value(forKey key: String) -> Any? { object(forKey: key) }

        /// Does the work of `set(_:forKey:)`.
        @_disfavoredOverload
        public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
    }

    /// Directories in which apps keep stores.
    extension URL {
        @_disfavoredOverload
        public static var applicationSupportDirectory: URL { standard(.applicationSupportDirectory) }
        @_disfavoredOverload
        public static var cachesDirectory: URL { standard(.cachesDirectory) }
        @_disfavoredOverload
        public static var documentsDirectory: URL { standard(.documentDirectory) }
        @_disfavoredOverload
        public static var libraryDirectory: URL { standard(.libraryDirectory) }
        @_disfavoredOverload
        public static var homeDirectory: URL { FileManager.default.homeDirectoryForCurrentUser }
        @_disfavoredOverload
        public static var temporaryDirectory: URL { FileManager.default.temporaryDirectory }

        private static func standard(_ directory: FileManager.SearchPathDirectory) -> URL {
            // Foundation looks whether a directory is there, and gives a file's URL where it is not.
            FileManager.default.urls(for: directory, in: .userDomainMask).first.map { URL(fileURLWithPath: $0.path, isDirectory: true) }
                ?? homeDirectory
        }
    }
#endif
