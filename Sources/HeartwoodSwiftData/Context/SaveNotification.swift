import Foundation
import Synchronization

/// The notification that a model context posts after a save.
///
/// Its user info is made only after some code has read its name, as those of managed object contexts: without the name no code observes it.
enum SaveNotification {
    private static let named = Atomic<Bool>(false)

    /// Whether it may have an observer.
    static var isNamed: Bool { named.load(ordering: .relaxed) }

    /// Returns the name and notes that code has read it.
    static func read() -> Notification.Name {
        named.store(true, ordering: .relaxed)
        return name
    }

    static var name: Notification.Name { Notification.Name("SwiftDataModelContextDidSave") }
}
