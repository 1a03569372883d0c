import Foundation

@testable import Heartwood

/// Collects the notifications of one object while it lives.
final class Heard: @unchecked Sendable {
    // Unchecked: the list is read after the posting is over, or under the lock.
    private let lock = NSLock()
    private var list: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ names: [Notification.Name], of object: AnyObject) {
        for name in names {
            tokens.append(NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [unowned self] notification in
                lock.withLock { list.append(notification) }
            })
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    var all: [Notification] { lock.withLock { list } }
    var names: [Notification.Name] { all.map(\.name) }

    /// The collected notification if there is exactly one; empties the list.
    func take() -> Notification? {
        lock.withLock {
            defer { list = [] }
            return list.count == 1 ? list[0] : nil
        }
    }
}

extension Notification {
    func objects(_ key: String) -> Set<NSManagedObject>? { userInfo?[key] as? Set<NSManagedObject> }
    func ids(_ key: String) -> Set<NSManagedObjectID>? { userInfo?[key] as? Set<NSManagedObjectID> }
}
