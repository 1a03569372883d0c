extension NSManagedObjectContext {
    /// How a context's work is confined, in the modern spelling.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        public var rawValue: NSManagedObjectContextConcurrencyType

        public init(rawValue: NSManagedObjectContextConcurrencyType) {
            self.rawValue = rawValue
        }

        /// To whichever thread the owner keeps it on.
        public static let confinement = ConcurrencyType(rawValue: .confinementConcurrencyType)
        /// To a queue of its own; use it inside `perform`.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// To the main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }
}
