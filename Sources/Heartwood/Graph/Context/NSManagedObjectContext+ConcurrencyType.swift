extension NSManagedObjectContext {
    /// A context's confinement, in the modern spelling.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        public var rawValue: NSManagedObjectContextConcurrencyType

        public init(rawValue: NSManagedObjectContextConcurrencyType) {
            self.rawValue = rawValue
        }

        /// Confined to the thread that the owner uses it on.
        public static let confinement = ConcurrencyType(rawValue: .confinementConcurrencyType)
        /// Confined to its own queue; use it inside `perform`.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// Confined to the main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }
}
