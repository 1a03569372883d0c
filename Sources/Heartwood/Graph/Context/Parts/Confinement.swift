import Foundation

/// Where a context may be used.
struct Confinement {
    /// nil if the context is confined to a thread.
    let queue: WorkQueue?
    /// Whether use on the wrong queue traps.
    let isWatched = ConcurrencyDebug.isOn
    /// The thread that made the context; nil unless the context is confined to a thread and watched.
    let confiningThread: Thread?

    init(_ type: NSManagedObjectContextConcurrencyType) {
        switch type {
        case .mainQueueConcurrencyType: queue = .main
        case .privateQueueConcurrencyType: queue = WorkQueue(label: "heartwood.context")
        case .confinementConcurrencyType: queue = nil
        }
        confiningThread = queue == nil && isWatched ? Thread.current : nil
    }
}
