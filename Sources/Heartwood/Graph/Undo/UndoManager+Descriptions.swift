#if !canImport(ObjectiveC)
    import Foundation

    /// Descriptions of groups: names, discardability, and user info.
    extension UndoManager {
        /// A key of `setActionUserInfoValue(_:forKey:)`.
        public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
            public let rawValue: String

            public init(rawValue: String) {
                self.rawValue = rawValue
            }
        }

        /// The groups that a description applies to: the open ones. If none is open, unregistered changes are requested first; then it is the
        /// event's group, or else the group closed last.
        private var described: [UndoGroup] {
            if openGroups.isEmpty {
                post(.NSUndoManagerCheckpoint)
                if openGroups.isEmpty {
                    guard groupsByEvent else { return undoStack.suffix(1) }
                    openEventGroup()
                }
            }
            return openGroups
        }

        // MARK: Names

        /// Names the current changes, for the titles of commands. An empty name removes the name.
        public final func setActionName(_ actionName: String) {
            for group in described { group.name = actionName }
        }

        /// The name of the next undo; empty if there is none.
        public final var undoActionName: String { nextUndo?.name ?? "" }
        /// The name of the next redo; empty if there is none.
        public final var redoActionName: String { redoStack.last?.name ?? "" }
        /// "Undo", followed by the name if there is one.
        public final var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
        /// "Redo", followed by the name if there is one.
        public final var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

        // MARK: Discardable groups

        /// Sets whether the innermost open group may be lost without harm, like the scrolling of a view.
        public final func setActionIsDiscardable(_ discardable: Bool) {
            described.last?.isExplicitlyDiscardable = discardable
        }

        /// Whether the next undo may be lost without harm.
        public final var undoActionIsDiscardable: Bool { nextUndo?.isDiscardable ?? false }
        /// Whether the next redo may be lost without harm.
        public final var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

        // MARK: User info

        /// Stores a value with the current changes; nil removes it.
        public final func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
            for group in described { group.userInfo[key] = info }
        }

        /// A value stored with the next undo.
        public final func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { nextUndo?.userInfo[key] }
        /// A value stored with the next redo.
        public final func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.userInfo[key] }
    }

    extension Notification.Name {
        /// Posted before a group is opened or closed, and before an undo or redo reads its stack. Observers register pending changes now.
        public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
        public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
        public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
        public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
        public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
        public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
        /// Has `NSUndoManagerGroupIsDiscardableKey` if the group is discardable.
        public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
        /// Has `NSUndoManagerGroupIsDiscardableKey` if the group is discardable.
        public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
    }

    /// In the user info of a closed group: true if the group as a whole is discardable.
    public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"
#endif
