#if !canImport(ObjectiveC)
    import Dispatch
    import Foundation

    /// Two stacks of groups of actions, for undo and redo. It replaces Foundation's class of this name, which exists only on Apple's platforms.
    ///
    /// Code that makes a change registers an action that undoes it. Actions registered during an undo become its redo. A manager belongs to one
    /// thread or queue at a time. It does not retain the targets of its actions, and an action without its target does nothing.
    ///
    /// With groups by event, the first action of an event opens a group. On the main queue the group is closed when the queue reaches its next
    /// block; a context with its own queue closes it at the end of each block; `undo()` always closes it. An empty group is dropped when it is
    /// closed. Features that need the Objective-C runtime (invocations, selectors) are missing, and so are run loop modes, since no run loop is
    /// used.
    /// Source: https://developer.apple.com/documentation/foundation/undomanager
    open class UndoManager: NSObject {
        /// The open groups, the outermost first.
        private(set) final var openGroups: [UndoGroup] = []
        private(set) final var undoStack: [UndoGroup] = []
        private(set) final var redoStack: [UndoGroup] = []
        private var disableCount = 0

        /// Whether an undo is running.
        open private(set) var isUndoing = false
        /// Whether a redo is running.
        open private(set) var isRedoing = false
        /// Whether the actions of one event automatically form a group. The default is true. If it is false, a group must be open when an action is
        /// registered, and every group must be closed before `undo()`.
        open var groupsByEvent = true
        /// The maximum number of groups that can be undone; older ones are dropped. 0, the default, means no limit.
        open var levelsOfUndo = 0 {
            didSet { trim() }
        }

        // MARK: Registering

        /// Registers an action that undoes a change.
        ///
        /// A new change discards all redos. Does nothing while registration is disabled.
        /// - Parameters:
        ///   - target: the handler's argument.
        ///   - handler: called with the target, which is not retained. Objects that the handler captures are retained.
        /// - Precondition: a group is open, or `groupsByEvent` is true.
        public final func registerUndo<TargetType: AnyObject>(
            withTarget target: TargetType, handler: @escaping (TargetType) -> Void
        ) {
            guard isUndoRegistrationEnabled else { return }
            if openGroups.isEmpty {
                demand(
                    groupsByEvent,
                    "No undo group is open. Call beginUndoGrouping() before registering an action, or let groupsByEvent be true.")
                openEventGroup()
            }
            if !isUndoing, !isRedoing { redoStack = [] }
            let action = UndoAction(target: target) { if let target = $0 as? TargetType { handler(target) } }
            openGroups[openGroups.count - 1].entries.append(.action(action))
        }

        /// Disables registration until `enableUndoRegistration()` was called equally often.
        open func disableUndoRegistration() {
            disableCount += 1
        }

        /// The counterpart of `disableUndoRegistration()`.
        /// - Precondition: registration is disabled.
        open func enableUndoRegistration() {
            demand(disableCount > 0, "enableUndoRegistration() was called more often than disableUndoRegistration().")
            disableCount -= 1
        }

        /// Whether actions are registered.
        open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

        /// Discards all undos and redos, and enables registration. Open groups stay open.
        open func removeAllActions() {
            undoStack = []
            redoStack = []
            for group in openGroups { group.entries = [] }
            disableCount = 0
        }

        /// Discards the actions of one target.
        open func removeAllActions(withTarget target: Any) {
            let target = ObjectIdentifier(target as AnyObject)
            for group in openGroups + undoStack + redoStack { group.remove(target) }
            undoStack.removeAll(where: \.isEmpty)
            redoStack.removeAll(where: \.isEmpty)
        }

        // MARK: Grouping

        /// The number of open groups, the event's included.
        open var groupingLevel: Int { openGroups.count }

        /// Opens a group inside the open ones, which include the event's if `groupsByEvent` is true.
        open func beginUndoGrouping() {
            if !isUndoing { post(.NSUndoManagerCheckpoint) }
            if groupsByEvent, openGroups.isEmpty { openEventGroup() }
            open(UndoGroup())
        }

        /// Closes the group opened last: it becomes part of the group around it, or else the next `undo()`.
        /// - Precondition: a group is open.
        open func endUndoGrouping() {
            demand(!openGroups.isEmpty, "endUndoGrouping() was called more often than beginUndoGrouping(): no group is open.")
            post(.NSUndoManagerCheckpoint)
            let group = openGroups[openGroups.count - 1]
            let userInfo: [AnyHashable: Any]? = group.isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: true] : nil
            post(.NSUndoManagerWillCloseUndoGroup, userInfo)
            openGroups.removeLast()
            if group.isEmpty {
                // Nothing to undo.
            } else if let parent = openGroups.last {
                parent.entries.append(.group(group))
            } else if isUndoing {
                redoStack.append(group)
            } else {
                undoStack.append(group)
            }
            trim()
            post(.NSUndoManagerDidCloseUndoGroup, userInfo)
            if openGroups.count == 1, openGroups[0].isAutomatic { endEventLater() }
        }

        private func open(_ group: UndoGroup) {
            openGroups.append(group)
            post(.NSUndoManagerDidOpenUndoGroup)
        }

        /// Opens the group of this event.
        final func openEventGroup() {
            open(UndoGroup(isAutomatic: true))
            endEventLater()
        }

        private struct Later: @unchecked Sendable {
            // Unchecked: made on the main queue and used there.
            weak var manager: UndoManager?
        }

        private func endEventLater() {
            guard WorkQueue.main.isCurrent else { return }
            let later = Later(manager: self)
            DispatchQueue.main.async { later.manager?.endEvent() }
        }

        /// Closes the event's group, unless a group opened by hand is open in it.
        final func endEvent() {
            guard openGroups.count == 1, openGroups[0].isAutomatic else { return }
            endUndoGrouping()
        }

        private func trim() {
            guard levelsOfUndo > 0 else { return }
            undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
            redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
        }

        // MARK: Undoing

        /// Whether something can be undone; open groups may have to be closed first.
        open var canUndo: Bool { undoCount > 0 }

        /// Whether something can be redone. Requests pending changes first, since those would discard the redos.
        open var canRedo: Bool {
            post(.NSUndoManagerCheckpoint)
            return !redoStack.isEmpty
        }

        /// The number of `undo()` calls that will have something to undo.
        open var undoCount: Int { undoStack.count + (hasOpenActions ? 1 : 0) }
        /// The number of `redo()` calls that will have something to redo.
        open var redoCount: Int { redoStack.count }

        private var hasOpenActions: Bool { openGroups.contains { !$0.isEmpty } }

        /// The group that the next `undo()` undoes.
        final var nextUndo: UndoGroup? { hasOpenActions ? openGroups.first : undoStack.last }

        /// Closes the open group, if it is the only one, and undoes the last group. Does nothing if there is none.
        /// - Precondition: at most one group is open, and no undo or redo is running.
        open func undo() {
            checkIdle("undo()")
            post(.NSUndoManagerCheckpoint)
            if openGroups.count == 1 { endUndoGrouping() }
            demand(openGroups.isEmpty, "undo() was called with \(openGroups.count) groups open. End the groups made by hand first.")
            undoNestedGroup()
        }

        /// Undoes the group closed last, which may be inside the open groups.
        /// - Precondition: nothing was registered in the innermost open group since, and no undo or redo is running.
        open func undoNestedGroup() {
            checkIdle("undoNestedGroup()")
            post(.NSUndoManagerCheckpoint)
            guard let group = takeLastGroup() else { return }
            post(.NSUndoManagerWillUndoChange)
            let outer = openGroups
            openGroups = []
            isUndoing = true
            perform(group)
            isUndoing = false
            openGroups = outer
            post(.NSUndoManagerDidUndoChange)
        }

        private func takeLastGroup() -> UndoGroup? {
            guard let innermost = openGroups.last else { return undoStack.popLast() }
            switch innermost.entries.last {
            case .group(let group)?:
                innermost.entries.removeLast()
                return group
            case .action?:
                misuse("undoNestedGroup() was called with actions registered in the open group. End it first.")
            case nil: return nil
            }
        }

        /// Repeats the changes that the last undo has undone. Does nothing if there are none, or if something has changed since.
        /// - Precondition: no undo or redo is running.
        open func redo() {
            checkIdle("redo()")
            post(.NSUndoManagerCheckpoint)
            guard let group = redoStack.popLast() else { return }
            post(.NSUndoManagerWillRedoChange)
            isRedoing = true
            perform(group)
            isRedoing = false
            post(.NSUndoManagerDidRedoChange)
        }

        /// Performs a group. Actions registered meanwhile form a group with the same description.
        private func perform(_ group: UndoGroup) {
            open(UndoGroup(like: group))
            let level = openGroups.count
            group.perform()
            demand(openGroups.count == level, "An undo or redo action opened a group and did not close it, or the other way round.")
            endUndoGrouping()
        }

        private func checkIdle(_ call: String) {
            demand(!isUndoing && !isRedoing, "\(call) was called by an action of an undo or redo.")
        }

        // MARK: Titles, for subclasses to override

        /// The title of the command that undoes an action of this name.
        open func undoMenuTitle(forUndoActionName actionName: String) -> String {
            actionName.isEmpty ? "Undo" : "Undo \(actionName)"
        }

        /// The title of the command that redoes an action of this name.
        open func redoMenuTitle(forUndoActionName actionName: String) -> String {
            actionName.isEmpty ? "Redo" : "Redo \(actionName)"
        }

        final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
            NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
        }
    }
#endif
