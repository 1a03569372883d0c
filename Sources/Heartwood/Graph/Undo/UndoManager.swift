#if !canImport(ObjectiveC)
    import Dispatch
    import Foundation

    /// Two stacks of groups of actions: what takes changes back, and what makes them again. Foundation's class of this name, which
    /// Foundation has on Apple's platforms only.
    ///
    /// Whoever changes something registers how that is taken back. What is registered while an undo runs is its redo. A manager belongs
    /// to one thread or queue at a time; it does not hold the targets of its actions, and an action whose target is gone does nothing.
    ///
    /// Where groups are made by event, the first action of an event opens a group. On the main queue it is closed when that comes
    /// to its next work; a context with a queue of its own closes it at the end of each block; `undo()` closes it in any case.
    /// A group that is closed empty is dropped. What asks for the Objective-C runtime (invocations, selectors) is missing, and so are
    /// run loop modes, since no run loop takes part.
    /// Source: https://developer.apple.com/documentation/foundation/undomanager
    open class UndoManager: NSObject {
        /// The groups that are open, the outermost first.
        private(set) final var openGroups: [UndoGroup] = []
        private(set) final var undoStack: [UndoGroup] = []
        private(set) final var redoStack: [UndoGroup] = []
        private var disableCount = 0

        /// Whether an undo is under way.
        open private(set) var isUndoing = false
        /// Whether a redo is under way.
        open private(set) var isRedoing = false
        /// Whether the actions of one event make a group by themselves. The default is true. Where it is false, a group must be open
        /// when an action is registered, and every group be closed before `undo()`.
        open var groupsByEvent = true
        /// How many groups can be undone at most; older ones are dropped. 0, the default, is no limit.
        open var levelsOfUndo = 0 {
            didSet { trim() }
        }

        // MARK: Registering

        /// Registers how a change is taken back.
        ///
        /// A new change makes that nothing can be redone any more. Does nothing while registration is disabled.
        /// - Parameter handler: called with the target, which is not held; it holds what the handler refers to.
        /// - Precondition: a group is open, or groups are made by event.
        public final func registerUndo<TargetType: AnyObject>(
            withTarget target: TargetType, handler: @escaping (TargetType) -> Void
        ) {
            guard isUndoRegistrationEnabled else { return }
            if openGroups.isEmpty {
                precondition(
                    groupsByEvent,
                    "No undo group is open. Call beginUndoGrouping() before registering an action, or let groupsByEvent be true.")
                openEventGroup()
            }
            if !isUndoing, !isRedoing { redoStack = [] }
            let action = UndoAction(target: target) { if let target = $0 as? TargetType { handler(target) } }
            openGroups[openGroups.count - 1].entries.append(.action(action))
        }

        /// Registers nothing until `enableUndoRegistration()` was called as often as this.
        open func disableUndoRegistration() {
            disableCount += 1
        }

        /// The counterpart of `disableUndoRegistration()`.
        /// - Precondition: registration is disabled.
        open func enableUndoRegistration() {
            precondition(disableCount > 0, "enableUndoRegistration() was called more often than disableUndoRegistration().")
            disableCount -= 1
        }

        /// Whether actions are registered.
        open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

        /// Forgets everything that could be undone or redone, and enables registration. Open groups stay open.
        open func removeAllActions() {
            undoStack = []
            redoStack = []
            for group in openGroups { group.entries = [] }
            disableCount = 0
        }

        /// Forgets the actions of one target.
        open func removeAllActions(withTarget target: Any) {
            let target = ObjectIdentifier(target as AnyObject)
            for group in openGroups + undoStack + redoStack { group.remove(target) }
            undoStack.removeAll(where: \.isEmpty)
            redoStack.removeAll(where: \.isEmpty)
        }

        // MARK: Grouping

        /// How many groups are open, that of the event included.
        open var groupingLevel: Int { openGroups.count }

        /// Opens a group, inside of the open ones. Where groups are made by event, that is inside of the event's.
        open func beginUndoGrouping() {
            if !isUndoing { post(.NSUndoManagerCheckpoint) }
            if groupsByEvent, openGroups.isEmpty { openEventGroup() }
            open(UndoGroup())
        }

        /// Closes the group that was opened last: it becomes a part of the one around it, or else what `undo()` takes back at once.
        /// - Precondition: a group is open.
        open func endUndoGrouping() {
            precondition(!openGroups.isEmpty, "endUndoGrouping() was called more often than beginUndoGrouping(): no group is open.")
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

        /// Closes the event's group, unless one that was made by hand is open in it.
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

        /// Whether there is anything to undo; open groups may have to be closed before.
        open var canUndo: Bool { undoCount > 0 }

        /// Whether there is anything to redo. Asks for changes that are not registered yet, since those would make that there is not.
        open var canRedo: Bool {
            post(.NSUndoManagerCheckpoint)
            return !redoStack.isEmpty
        }

        /// How often `undo()` will find something to undo.
        open var undoCount: Int { undoStack.count + (hasOpenActions ? 1 : 0) }
        /// How often `redo()` will find something to redo.
        open var redoCount: Int { redoStack.count }

        private var hasOpenActions: Bool { openGroups.contains { !$0.isEmpty } }

        /// The group that the next `undo()` takes back.
        final var nextUndo: UndoGroup? { hasOpenActions ? openGroups.first : undoStack.last }

        /// Closes the open group, where it is the only one, and takes back the last group. Does nothing where there is none.
        /// - Precondition: no more than one group is open, and no undo or redo is under way.
        open func undo() {
            checkIdle("undo()")
            post(.NSUndoManagerCheckpoint)
            if openGroups.count == 1 { endUndoGrouping() }
            precondition(openGroups.isEmpty, "undo() was called with \(openGroups.count) groups open. End the groups made by hand first.")
            undoNestedGroup()
        }

        /// Takes back the group that was closed last, which may be one inside of the open groups.
        /// - Precondition: nothing was registered in the innermost open group since, and no undo or redo is under way.
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
                preconditionFailure("undoNestedGroup() was called with actions registered in the open group. End it first.")
            case nil: return nil
            }
        }

        /// Makes again what the last undo has taken back. Does nothing where there is nothing, or something was changed since.
        /// - Precondition: no undo or redo is under way.
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

        /// Performs a group. What is registered meanwhile makes a group of the same description.
        private func perform(_ group: UndoGroup) {
            open(UndoGroup(like: group))
            let level = openGroups.count
            group.perform()
            precondition(openGroups.count == level, "An undo or redo action opened a group and did not close it, or the other way round.")
            endUndoGrouping()
        }

        private func checkIdle(_ call: String) {
            precondition(!isUndoing && !isRedoing, "\(call) was called by what an undo or redo does.")
        }

        // MARK: Titles, to be overridden

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
