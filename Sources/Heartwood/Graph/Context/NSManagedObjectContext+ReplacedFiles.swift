import Foundation
import RecordLog

/// The context's move away from files that compactions have replaced.
///
/// Objects point at rows in a mapped file, and the disk keeps the file's space while it is mapped. So at the end of an event, and before a
/// fetch, the context makes its objects point at the same rows in the store's current file. A row whose version is no longer there, because
/// it was changed or deleted since, is copied into memory.
///
/// Invariants:
/// 1. A caller that holds a row while the program's code runs (an initializer, an observer) is counted in `rowUses`. Rows do not move while
/// any caller is counted.
/// 2. `memory` keeps each row of a registered object, of a child's committed state and of an undo step.
/// 3. A context that is pinned to a generation keeps the files of that generation.
extension NSManagedObjectContext {
    /// - Complexity: O(files), which is one or two; O(registered objects + undo steps) if a file was replaced.
    @inline(__always)
    final func leaveReplacedFiles() {
        if readState.memory.hasReplacedFile { moveRows() }
    }

    /// Runs `body`, which holds rows while the program's code may run.
    @inline(__always)
    final func usingRows<Result>(_ body: () throws -> Result) rethrows -> Result {
        readState.rowUses += 1
        defer { readState.rowUses -= 1 }
        return try body()
    }

    /// The number of files above which the children of a pinned root move their rows. They read rows of the root's files, and would
    /// otherwise move them at each event.
    private static let filesBelowPinned = 4

    @inline(never)
    private final func moveRows() {
        guard readState.rowUses == 0, !pending.isSaving else { return }
        guard parentContext == nil || !tree.isPinned || readState.memory.files.count > Self.filesBelowPinned else { return }
        var present = StoreViews()
        for store in coordinator?.persistentStores ?? [] where store.traits.contains(.replacesFiles)
            && (parentContext != nil || readState.views[store.slotBase] != nil)
        {
            // If the store cannot be read, a later read reports it.
            guard let view = try? view(of: store) else { return }
            present[store.slotBase] = view
        }
        let files = present.list.compactMap(\.view.file)
        guard readState.memory.files.contains(where: { file in file.isReplaced && !files.contains { $0 === file } }) else { return }
        identities.sweep()
        let move = RowMove(self, to: present)
        identities.forEach(move.run)
        recorder?.moveRows(move.row)
        readState.views.removeAll { _, view in view.file.map { file in !files.contains { $0 === file } } ?? false }
        dropCachedPlan()
        readState.lastView = nil
        readState.memory.replace(files: files, copies: move.copies)
    }
}

/// One pass over the objects of a context.
private final class RowMove {
    let copies = KeptRows()
    private let context: NSManagedObjectContext
    /// By the record log's first slot.
    private let views: StoreViews
    /// Copies by the address of the original row, so that one row is copied once.
    private var copied: [UnsafeRawPointer: UnsafeRowView] = [:]
    /// The view of the previous object's store; nil inside if that store has none.
    private var last: (slotBase: UInt64, view: (any StoreView)?)?

    init(_ context: NSManagedObjectContext, to views: StoreViews) {
        self.context = context
        self.views = views
    }

    func run(_ object: NSManagedObject) {
        object.moveRows { row($0, of: object) }
    }

    /// Returns the row in the current file, or a copy.
    func row(_ row: UnsafeRowView, of object: NSManagedObject) -> UnsafeRowView {
        let runtime = object.runtime
        guard let view = view(of: runtime) else {
            // A row from an incremental store is in memory already. Of a removed store only this row is left, so it is copied.
            return runtime.store.map { !$0.traits.contains(.replacesFiles) } ?? false ? row : copy(row, runtime)
        }
        if !object.key.isTemporary, let found = try? view.row(object.key), isSame(row, found, runtime) { return found }
        return copy(row, runtime)
    }

    private func view(of runtime: EntityRuntime) -> (any StoreView)? {
        if let last, last.slotBase == runtime.slotBase { return last.view }
        let view = views[runtime.slotBase]
        last = (runtime.slotBase, view)
        return view
    }

    private func isSame(_ row: UnsafeRowView, _ found: UnsafeRowView, _ runtime: EntityRuntime) -> Bool {
        guard found.body != row.body else { return true }
        guard found.version == row.version, found.byteCount == row.byteCount else { return false }
        // Versions alone do not suffice: a compaction forgets a deleted row, and a row that is inserted again counts its versions from the
        // start. Pointers to values outside the row differ between files, so such rows are not compared.
        return runtime.hasExternalData || memcmp(found.body, row.body, row.byteCount) == 0
    }

    private func copy(_ row: UnsafeRowView, _ runtime: EntityRuntime) -> UnsafeRowView {
        if let known = copied[row.body] { return known }
        let copy = copies.copy(row)
        copied[row.body] = copy
        guard runtime.hasExternalData else { return copy }
        for (index, property) in runtime.properties.enumerated() where property.kind == .externalData {
            guard let access = runtime.access(index, in: row), let value = (try? context.readExternalData(index, access, of: row, in: runtime)) ?? nil
            else { continue }
            copies.keep(value, of: index, in: copy)
        }
        return copy
    }
}
