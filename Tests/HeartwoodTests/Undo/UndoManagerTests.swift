import Foundation
import Testing

@testable import Heartwood

/// A number whose changes are registered.
private final class Counter {
    let manager: UndoManager
    private(set) var value = 0

    init(_ manager: UndoManager) {
        self.manager = manager
    }

    func set(_ new: Int) {
        let old = value
        manager.registerUndo(withTarget: self) { $0.set(old) }
        value = new
    }

    /// Sets each value in a group of its own.
    func set(groups values: Int...) {
        for value in values {
            manager.beginUndoGrouping()
            set(value)
            manager.endUndoGrouping()
        }
    }
}

/// The notifications of a manager, and whether it was undoing or redoing at the time.
private final class Listener: @unchecked Sendable {
    // Unchecked: used on one thread.
    private var heard: [String] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ manager: UndoManager) {
        let names: [Notification.Name] = [
            .NSUndoManagerCheckpoint, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange,
            .NSUndoManagerDidRedoChange, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
            .NSUndoManagerDidCloseUndoGroup,
        ]
        tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { [unowned self] notification in
                let manager = notification.object as? UndoManager
                let state = manager?.isUndoing == true ? "undoing " : manager?.isRedoing == true ? "redoing " : ""
                heard.append(state + name.rawValue.dropFirst("NSUndoManager".count).dropLast("Notification".count))
            }
        }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }

    func take() -> [String] {
        defer { heard = [] }
        return heard
    }
}

@Suite struct UndoManagerTests {
    private func byHand() -> (UndoManager, Counter) {
        let manager = UndoManager()
        manager.groupsByEvent = false
        return (manager, Counter(manager))
    }

    @Test
    func `Groups are undone and redone in turn`() {
        let (manager, counter) = byHand()
        #expect(!manager.canUndo && !manager.canRedo)
        manager.undo()
        manager.redo()
        counter.set(groups: 1, 2, 3)
        #expect(manager.undoCount == 3 && manager.redoCount == 0)
        manager.undo()
        #expect(counter.value == 2 && manager.canRedo)
        manager.undo()
        #expect(counter.value == 1 && manager.undoCount == 1 && manager.redoCount == 2)
        manager.redo()
        manager.redo()
        manager.redo()
        #expect(counter.value == 3 && !manager.canRedo && manager.undoCount == 3)
        for _ in 0..<4 { manager.undo() }
        #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 3)
    }

    @Test
    func `A new change clears the redo stack`() {
        let (manager, counter) = byHand()
        counter.set(groups: 1, 2)
        manager.undo()
        #expect(manager.canRedo)
        counter.set(groups: 5)
        #expect(!manager.canRedo)
        manager.undo()
        #expect(counter.value == 1)
    }

    @Test
    func `Nested groups are undone together or one by one`() {
        let (manager, counter) = byHand()
        manager.beginUndoGrouping()
        counter.set(1)
        counter.set(groups: 2, 3)
        #expect(manager.groupingLevel == 1 && manager.canUndo)
        manager.undoNestedGroup()
        #expect(counter.value == 2 && manager.groupingLevel == 1)
        manager.redo()
        #expect(counter.value == 3, "what is redone goes back into the open group")
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 0 && manager.undoCount == 1)
        manager.undo()
        #expect(counter.value == 0)
        manager.redo()
        #expect(counter.value == 3)
    }

    @Test
    func `Undoing closes the only open group`() {
        let (manager, counter) = byHand()
        manager.beginUndoGrouping()
        counter.set(7)
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0)
    }

    @Test
    func `The first action of an event opens a group`() {
        let manager = UndoManager()
        let counter = Counter(manager)
        #expect(manager.groupsByEvent && manager.groupingLevel == 0)
        counter.set(1)
        counter.set(2)
        #expect(manager.groupingLevel == 1)
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 2)
        counter.set(3)
        manager.endUndoGrouping()
        manager.undo()
        #expect(counter.value == 0 && manager.groupingLevel == 0)
        manager.beginUndoGrouping()
        #expect(manager.groupingLevel == 2, "one of the event, one by hand")
        manager.endUndoGrouping()
        #expect(manager.canRedo, "an empty group changes nothing")
        manager.redo()
        #expect(counter.value == 3)
    }

    @Test
    @MainActor func `The event's group is closed when the main queue starts its next work`() async {
        let manager = UndoManager()
        let counter = Counter(manager)
        counter.set(1)
        counter.set(2)
        #expect(manager.groupingLevel == 1)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(manager.groupingLevel == 0)
        counter.set(3)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(manager.undoCount == 2)
        manager.undo()
        #expect(counter.value == 2)
    }

    @Test
    func `Empty groups are dropped`() {
        let (manager, counter) = byHand()
        counter.set(groups: 1)
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        manager.endUndoGrouping()
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test
    func `Names belong to groups`() {
        let (manager, counter) = byHand()
        #expect(manager.undoActionName == "" && manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
        manager.beginUndoGrouping()
        counter.set(1)
        manager.setActionName("Counting")
        manager.endUndoGrouping()
        counter.set(groups: 2)
        #expect(manager.undoActionName == "")
        manager.setActionName("More")
        #expect(manager.undoMenuItemTitle == "Undo More", "without an open group the last one is named")
        manager.undo()
        #expect(manager.undoActionName == "Counting" && manager.redoActionName == "More")
        #expect(manager.redoMenuItemTitle == "Redo More")
        manager.redo()
        #expect(manager.undoActionName == "More" && manager.redoActionName == "")
        manager.setActionName("")
        #expect(manager.undoMenuItemTitle == "Undo")
    }

    @Test
    func `Titles can be overridden`() {
        final class German: UndoManager {
            override func undoMenuTitle(forUndoActionName actionName: String) -> String { "\(actionName) widerrufen" }
        }
        let manager = German()
        Counter(manager).set(1)
        manager.setActionName("Eingabe")
        #expect(manager.undoMenuItemTitle == "Eingabe widerrufen")
    }

    @Test
    func `Values are kept with groups`() {
        let (manager, counter) = byHand()
        let key = UndoManager.UserInfoKey(rawValue: "place")
        manager.beginUndoGrouping()
        counter.set(1)
        manager.setActionUserInfoValue(12, forKey: key)
        manager.endUndoGrouping()
        #expect(manager.undoActionUserInfoValue(forKey: key) as? Int == 12)
        #expect(manager.redoActionUserInfoValue(forKey: key) == nil)
        manager.undo()
        #expect(manager.redoActionUserInfoValue(forKey: key) as? Int == 12)
    }

    @Test
    func `Only the newest levels are kept`() {
        let (manager, counter) = byHand()
        manager.levelsOfUndo = 2
        counter.set(groups: 1, 2, 3)
        #expect(manager.undoCount == 2)
        manager.levelsOfUndo = 1
        #expect(manager.undoCount == 1)
        manager.undo()
        manager.undo()
        #expect(counter.value == 2)
    }

    @Test
    func `Disabled registration registers nothing`() {
        let (manager, counter) = byHand()
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        counter.set(1)
        manager.enableUndoRegistration()
        #expect(!manager.isUndoRegistrationEnabled)
        counter.set(2)
        manager.enableUndoRegistration()
        #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
        counter.set(groups: 3)
        manager.undo()
        #expect(counter.value == 2)
    }

    @Test
    func `Actions can be forgotten`() {
        let (manager, counter) = byHand()
        let other = Counter(manager)
        manager.beginUndoGrouping()
        counter.set(1)
        other.set(1)
        manager.endUndoGrouping()
        counter.set(groups: 2)
        manager.removeAllActions(withTarget: counter)
        #expect(manager.undoCount == 1)
        manager.undo()
        #expect(counter.value == 2 && other.value == 0 && manager.canRedo)
        manager.disableUndoRegistration()
        manager.removeAllActions()
        #expect(!manager.canRedo && manager.isUndoRegistrationEnabled)
    }

    @Test
    func `Targets are not retained`() {
        let (manager, kept) = byHand()
        weak var gone: Counter?
        do {
            let counter = Counter(manager)
            gone = counter
            manager.beginUndoGrouping()
            counter.set(1)
            kept.set(1)
            manager.endUndoGrouping()
        }
        #expect(gone == nil)
        manager.undo()
        #expect(kept.value == 0)
    }

    @Test
    func `A group is discardable if all of its actions are`() {
        let (manager, counter) = byHand()
        let heard = Heard([.NSUndoManagerDidCloseUndoGroup], of: manager)
        var told: [Bool] { heard.all.map { $0.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool ?? false } }
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        counter.set(1)
        manager.setActionIsDiscardable(true)
        manager.endUndoGrouping()
        #expect(!manager.canRedo && manager.undoActionIsDiscardable)
        manager.endUndoGrouping()
        #expect(manager.undoActionIsDiscardable && told == [true, true])
        manager.undo()
        #expect(manager.redoActionIsDiscardable && !manager.undoActionIsDiscardable)
        counter.set(groups: 2)
        #expect(!manager.undoActionIsDiscardable && told.last == false)
    }

    @Test
    func `The undo manager posts its notifications`() {
        let (manager, counter) = byHand()
        let listener = Listener(manager)
        func take() -> [String] { listener.take() }
        counter.set(groups: 1)
        #expect(take() == ["Checkpoint", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"])
        manager.undo()
        #expect(
            take() == [
                "Checkpoint", "Checkpoint", "WillUndoChange", "undoing DidOpenUndoGroup", "undoing Checkpoint",
                "undoing WillCloseUndoGroup", "undoing DidCloseUndoGroup", "DidUndoChange",
            ])
        #expect(manager.canRedo)
        #expect(take() == ["Checkpoint"])
        manager.redo()
        #expect(
            take() == [
                "Checkpoint", "WillRedoChange", "redoing DidOpenUndoGroup", "redoing Checkpoint", "redoing WillCloseUndoGroup",
                "redoing DidCloseUndoGroup", "DidRedoChange",
            ])
    }
}
