import Foundation
import Heartwood

/// `heartwood-testprocess --queues`: a main thread with a run loop, which an app has and a test process lacks.
enum QueueChain {
    /// Goes from a private queue to the main thread and back, then prints a line and ends the process.
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
