import Foundation
import RecordLog

/// How a context leaves files that compactions have replaced.
///
/// Objects point at rows where these lie, and the disk keeps a file's space as long as it is mapped. So at the end of an event, and ahead of a
/// fetch, the context has its objects point at the same rows of the file that the store has now. A row that is not there in the same version,
/// because somebody has changed or deleted it since, is copied.
///
/// Invariants:
/// 1. A caller that holds a row while the program's code runs (an initializer, an observer) is counted in `rowUses`. No row moves meanwhile.
/// 2. Each row of a registered object, of a child's committed state and of an undo step is in `memory`.
/// 3. A context that is pinned to a generation keeps the files of that generation.
extension NSManagedObjectContext {
    /// - Complexity: O(files), which is one or two; where one was replaced, O(registered objects + undo steps).
    @inline(__always)
    final func leaveReplacedFiles() {
        if memory.hasReplacedFile { moveRows() }
    }

    /// Runs what holds rows while the program's code may run.
    @inline(__always)
    final func usingRows<Result>(_ body: () throws -> Result) rethrows -> Result {
        rowUses += 1
        defer { rowUses -= 1 }
        return try body()
    }

    /// Children of a pinned root are given rows of the root's files, and would move their rows at each event.
    private static let filesBelowPinned = 4

    @inline(never)
    private final func moveRows() {
        guard rowUses == 0, !isSaving else { return }
        guard parentContext == nil || !tree.isPinned || memory.files.count > Self.filesBelowPinned else { return }
        var present: [UInt64: StoreView] = [:]
        for store in coordinator?.persistentStores ?? [] where store.rows != nil && (parentContext != nil || views[store.slotBase] != nil) {
            // A store that cannot be read now tells so elsewhere.
            guard let view = try? view(of: store) else { return }
            present[store.slotBase] = view
        }
        let files = present.values.compactMap(\.file)
        guard memory.files.contains(where: { file in file.isReplaced && !files.contains { $0 === file } }) else { return }
        identities.sweep()
        let move = RowMove(self, to: present)
        identities.forEach(move.run)
        recorder?.moveRows(move.row)
        views = views.filter { view in view.value.file.map { file in files.contains { $0 === file } } ?? true }
        forgetRoute()
        lastView = nil
        memory.replace(files: files, copies: move.copies)
    }
}

/// One walk over the objects of a context.
private final class RowMove {
    let copies = KeptRows()
    private let context: NSManagedObjectContext
    /// By the first slot of a record log.
    private let views: [UInt64: StoreView]
    /// By the place of a row that was copied, so that one row stays one.
    private var copied: [UnsafeRawPointer: RowView] = [:]
    /// The view of the last object's store; nil where that has none.
    private var last: (slotBase: UInt64, view: StoreView?)?

    init(_ context: NSManagedObjectContext, to views: [UInt64: StoreView]) {
        self.context = context
        self.views = views
    }

    func run(_ object: NSManagedObject) {
        object.moveRows { row($0, of: object) }
    }

    /// The row at its new place.
    func row(_ row: RowView, of object: NSManagedObject) -> RowView {
        let runtime = object.runtime
        guard let view = view(of: runtime) else {
            // The answer of a store that is asked stays where it is. Of a store that was removed there is nothing but this row.
            return runtime.store.map { $0.rows == nil } ?? false ? row : copy(row, runtime)
        }
        if !object.key.isTemporary, let found = try? view.row(object.key), isSame(row, found, runtime) { return found }
        return copy(row, runtime)
    }

    private func view(of runtime: EntityRuntime) -> StoreView? {
        if let last, last.slotBase == runtime.slotBase { return last.view }
        let view = views[runtime.slotBase]
        last = (runtime.slotBase, view)
        return view
    }

    private func isSame(_ row: RowView, _ found: RowView, _ runtime: EntityRuntime) -> Bool {
        guard found.body != row.body else { return true }
        guard found.version == row.version, found.byteCount == row.byteCount else { return false }
        // A compaction forgets a row that was deleted, and one that comes back counts its versions anew. What a row says of values outside of
        // it is another thing in each file.
        return runtime.hasExternalData || memcmp(found.body, row.body, row.byteCount) == 0
    }

    private func copy(_ row: RowView, _ runtime: EntityRuntime) -> RowView {
        if let known = copied[row.body] { return known }
        let copy = copies.copy(row)
        copied[row.body] = copy
        guard runtime.hasExternalData else { return copy }
        for (index, property) in runtime.properties.enumerated() where property.kind == .externalData {
            guard let access = runtime.access(index, in: row), let value = try? context.readExternalData(index, access, of: row, in: runtime)
            else { continue }
            copies.keep(value, of: index, in: copy)
        }
        return copy
    }
}
