import Foundation
import Heartwood

/// `heartwood-testprocess --queues`: a main thread with a run loop, as an app has one and a test process has none.
enum QueueChain {
    /// Goes from a private queue to the main thread and back, then says so and ends the process.
    static func run() -> Never {
        Thread.detachNewThread {
            let own = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            let isMain = own.performAndWait {
                main.performAndWait { () -> Bool in
                    let isMain = Thread.isMainThread
                    return own.performAndWait { isMain }
                }
            }
            print(isMain ? "on the main thread and back" : "not on the main thread")
            exit(0)
        }
        while true { RunLoop.main.run(until: .distantFuture) }
    }
}
