import Dispatch
import Foundation

/// The main queue, which other threads than the main one may serve: where a program's main function is asynchronous, off
/// Apple's platforms, the main thread has ended by the time that the queue does its work.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this code runs on the main queue or the main thread.
    static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true }
}
