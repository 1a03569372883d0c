extension NSManagedObjectContext {
    /// How a context's work is confined, in the modern spelling.
    public enum ConcurrencyType: Hashable, Sendable {
        /// To whichever thread the owner keeps it on.
        case confinement
        /// To a queue of its own; use it inside `perform`.
        case privateQueue
        /// To the main queue.
        case mainQueue
    }

    public convenience init(_ type: ConcurrencyType) {
        switch type {
        case .confinement: self.init(concurrencyType: .confinementConcurrencyType)
        case .privateQueue: self.init(concurrencyType: .privateQueueConcurrencyType)
        case .mainQueue: self.init(concurrencyType: .mainQueueConcurrencyType)
        }
    }
}
