#if !canImport(ObjectiveC)
    import Foundation

    /// What is said of a group: its name, whether it matters, and whatever else.
    extension UndoManager {
        /// A key of `setActionUserInfoValue(_:forKey:)`.
        public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
            public let rawValue: String

            public init(rawValue: String) {
                self.rawValue = rawValue
            }
        }

        /// The groups that something is said of now: the open ones. Where none is open, changes that are not registered yet are asked
        /// for; then it is the event's group, or else the one that was closed last.
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

        /// Names what is being changed, for the titles of the commands. An empty name takes the name away.
        public final func setActionName(_ actionName: String) {
            for group in described { group.name = actionName }
        }

        /// The name of what the next undo takes back; empty where there is none.
        public final var undoActionName: String { nextUndo?.name ?? "" }
        /// The name of what the next redo makes again; empty where there is none.
        public final var redoActionName: String { redoStack.last?.name ?? "" }
        /// "Undo", with the name where there is one.
        public final var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
        /// "Redo", with the name where there is one.
        public final var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

        // MARK: Discardable groups

        /// Says whether the innermost open group may be lost without harm, as the scrolling of a view may.
        public final func setActionIsDiscardable(_ discardable: Bool) {
            described.last?.statedDiscardable = discardable
        }

        /// Whether what the next undo takes back may be lost without harm.
        public final var undoActionIsDiscardable: Bool { nextUndo?.isDiscardable ?? false }
        /// Whether what the next redo makes again may be lost without harm.
        public final var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

        // MARK: Anything else

        /// Keeps a value with what is being changed; nil takes it away.
        public final func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
            for group in described { group.userInfo[key] = info }
        }

        /// A value kept with what the next undo takes back.
        public final func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { nextUndo?.userInfo[key] }
        /// A value kept with what the next redo makes again.
        public final func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.userInfo[key] }
    }

    extension Notification.Name {
        /// Posted before a group is opened or closed, and before an undo or redo looks at its stack: who registers changes late does now.
        public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
        public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
        public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
        public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
        public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
        public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
        /// With `NSUndoManagerGroupIsDiscardableKey` where the group is discardable.
        public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
        /// With `NSUndoManagerGroupIsDiscardableKey` where the group is discardable.
        public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
    }

    /// True in the user info of a group that was closed, where the group as a whole is discardable.
    public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"
#endif
