import Foundation
import Heartwood
import heartwood_testprocess

/// The child: groups of changes that are undone and redone, before and after they were saved.
extension GraphSimulation {
    func stepChild() throws {
        try bringUpChild()
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5 where future.isEmpty || chance(2): try group()
        case 0..<5: try goForth()
        case 5..<9: try goBack()
        case 9..<11: try saveChild()
        default:
            say("the child forgets what to undo", count: "forget")
            undoManager.removeAllActions()
            past = []
            future = []
            closeChild()
        }
        try child.check(&random)
    }

    private func group() throws {
        let count = undoManager.undoCount
        let before = child.shown
        child.pending = GraphReach()
        undoManager.beginUndoGrouping()
        for _ in 0...Int.random(in: 0..<4, using: &random) { try edit(child) }
        undoManager.endUndoGrouping()
        var group = Group(reach: child.pending)
        for number in Set(before.rows.keys).union(child.shown.rows.keys) where before.rows[number] != child.shown.rows[number] {
            group.rows[number] = (before.rows[number], child.shown.rows[number])
        }
        unsaved.formUnion(group.reach)
        if undoManager.undoCount > count {
            past.append(group)
            future = []
        } else if !group.rows.isEmpty {
            throw GraphProblem("the child cannot undo \(group.rows.keys.sorted())")
        }
        closeChild()
    }

    private func goBack() throws {
        let group = past.popLast()
        say("the child undoes \(group?.rows.keys.sorted() ?? [])", count: group == nil ? "nothing to undo" : "undo")
        child.context.undo()
        guard let group else { return }
        for (number, rows) in group.rows { child.shown.rows[number] = rows.before }
        future.append(group)
        unsaved.formUnion(group.reach)
        undone.formUnion(group.reach.all)
        closeChild()
    }

    /// A short run may have no undo or redo by chance.
    func undoAndRedo() throws {
        try group()
        guard !past.isEmpty else { return }
        try goBack()
        try goForth()
        try child.check(&random)
    }

    private func goForth() throws {
        let group = future.popLast()
        say("the child redoes \(group?.rows.keys.sorted() ?? [])", count: group == nil ? "nothing to redo" : "redo")
        child.context.redo()
        guard let group else { return }
        for (number, rows) in group.rows { child.shown.rows[number] = rows.after }
        past.append(group)
        unsaved.formUnion(group.reach)
        closeChild()
    }

    func saveChild() throws {
        say("the child: save", count: "save of the child")
        try child.context.save()
        ahead.shown = child.shown
        try ahead.check(&random)
        ahead.pending.formUnion(unsaved)
        // An undo may therefore affect an object of the parent.
        ahead.closed.formUnion(unsaved.all)
        child.base = child.shown
        unsaved = GraphReach()
        undone = []
        closeChild()
    }

    /// Keeps the other contexts from changing objects that can be undone.
    private func closeChild() {
        child.pending = unsaved
        child.closed = undone
        for group in past + future {
            child.pending.formUnion(group.reach)
            child.closed.formUnion(group.reach.all)
        }
    }
}
