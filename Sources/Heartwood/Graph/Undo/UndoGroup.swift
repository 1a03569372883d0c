#if !canImport(ObjectiveC)
    /// One action of an undo or a redo. It holds its arguments, but not its target.
    struct UndoAction {
        private weak var target: AnyObject?
        private let targetID: ObjectIdentifier
        private let handler: (AnyObject) -> Void

        init(target: AnyObject, handler: @escaping (AnyObject) -> Void) {
            self.target = target
            targetID = ObjectIdentifier(target)
            self.handler = handler
        }

        func perform() {
            if let target { handler(target) }
        }

        func isFor(_ target: ObjectIdentifier) -> Bool { targetID == target }
    }

    /// The contents of one undo or redo: actions, and the groups that were closed inside this one, in the order of registration.
    final class UndoGroup {
        enum Entry {
            case action(UndoAction)
            case group(UndoGroup)
        }

        var entries: [Entry] = []
        var name = ""
        var userInfo: [UndoManager.UserInfoKey: Any] = [:]
        /// The value set for the group as a whole; nil if it depends on its parts.
        var isExplicitlyDiscardable: Bool?
        /// Whether the manager opened it for an event.
        let isAutomatic: Bool

        init(isAutomatic: Bool = false) {
            self.isAutomatic = isAutomatic
        }

        /// An empty group with the same description.
        init(like other: UndoGroup) {
            isAutomatic = false
            name = other.name
            userInfo = other.userInfo
            isExplicitlyDiscardable = other.isDiscardable
        }

        var isEmpty: Bool { entries.isEmpty }

        var isDiscardable: Bool {
            if let isExplicitlyDiscardable { return isExplicitlyDiscardable && !isEmpty }
            return !isEmpty && entries.allSatisfy { entry in
                if case .group(let group) = entry { return group.isDiscardable }
                return false
            }
        }

        /// Performs all entries, the last one first.
        func perform() {
            for entry in entries.reversed() {
                switch entry {
                case .action(let action): action.perform()
                case .group(let group): group.perform()
                }
            }
        }

        /// Drops the actions of one target, and nested groups that become empty.
        func remove(_ target: ObjectIdentifier) {
            entries.removeAll { entry in
                switch entry {
                case .action(let action): return action.isFor(target)
                case .group(let group):
                    group.remove(target)
                    return group.isEmpty
                }
            }
        }
    }
#endif
