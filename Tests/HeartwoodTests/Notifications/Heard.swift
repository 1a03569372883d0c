import Foundation
import HeartwoodTestSupport

@testable import Heartwood

/// Collects the notifications of one object while it lives.
final class Heard: @unchecked Sendable {
    // Unchecked: `init` alone changes the tokens.
    private let list = Watched<[Notification]>([])
    private var tokens: [any NSObjectProtocol] = []

    init(_ names: [Notification.Name], of object: AnyObject) {
        for name in names {
            tokens.append(NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [list] notification in
                list.withLock { $0.append(notification) }
            })
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    var all: [Notification] { list.withLock { $0 } }
    var names: [Notification.Name] { all.map(\.name) }

    /// The collected notification if there is exactly one; empties the list.
    func take() -> Notification? {
        list.withLock { list in
            defer { list = [] }
            return list.count == 1 ? list[0] : nil
        }
    }

    /// Waits for a notification that satisfies a condition, for a minute at most.
    func wait(for isWanted: (Notification) -> Bool = { _ in true }) -> Bool { list.wait { $0.contains(where: isWanted) } }

    func wait(for isWanted: @escaping @Sendable (Notification) -> Bool = { _ in true }) async -> Bool {
        await list.wait { $0.contains(where: isWanted) }
    }
}

extension Notification {
    func objects(_ key: String) -> Set<NSManagedObject>? { userInfo?[key] as? Set<NSManagedObject> }
    func ids(_ key: String) -> Set<NSManagedObjectID>? { userInfo?[key] as? Set<NSManagedObjectID> }
}
