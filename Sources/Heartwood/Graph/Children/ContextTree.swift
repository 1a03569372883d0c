import Synchronization

/// State shared by a root context and all its descendants: the numbers of temporary keys, and the renames of keys. Safe to use from several
/// queues.
///
/// A key is renamed when its object gets a row: by a save of the root, or earlier by `obtainPermanentIDs(for:)`. Each context of the tree
/// adopts the new names at a point where no code holds a key (`NSManagedObjectContext.adoptKeys()`), so a name does not change under code
/// that compares keys.
///
/// Invariants:
/// 1. `count` never falls: it is the number of renames so far, including dropped ones.
/// 2. Renames are kept while a child lives. A child that is made later knows none of the old names.
final class ContextTree: Sendable {
    private struct Rename {
        let old: ObjectKey
        let new: ObjectKey
        /// Whether the object of `old` was merged into one that `new` already named.
        let isMerge: Bool
    }

    private struct Table {
        var first = 0
        var list: [Rename] = []
        /// The position of a key's rename, by old key.
        var indexes: [ObjectKey: Int] = [:]
        var children = 0
    }

    private static let trees = Atomic<UInt64>(0)

    /// Distinguishes the temporary IDs of this tree from those of other trees.
    let token = trees.wrappingAdd(1, ordering: .relaxed).newValue
    private let numbers = Atomic<UInt64>(0)
    private let pinned = Atomic<Bool>(false)
    private let renames = Atomic<Int>(0)
    /// The changes that children may have read before.
    let changes = ChangeCount()
    private let children = Atomic<Int>(0)
    private let table = Mutex(Table())

    /// Whether the root may read commits older than the newest. Set on the root's queue.
    var isPinned: Bool {
        get { pinned.load(ordering: .relaxed) }
        set { pinned.store(newValue, ordering: .relaxed) }
    }

    /// Returns a number that no other temporary key of the tree has.
    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The number of renames so far.
    @inline(__always)
    var count: Int { renames.load(ordering: .acquiring) }

    /// Whether a child lives.
    @inline(__always)
    var hasChildren: Bool { children.load(ordering: .relaxed) > 0 }

    func join() {
        table.withLock { $0.children += 1 }
        children.add(1, ordering: .relaxed)
    }

    func leave() {
        children.subtract(1, ordering: .relaxed)
        table.withLock { table in
            table.children -= 1
            Self.dropIfAlone(&table)
        }
    }

    /// Drops the old names if no child can know them.
    func dropIfAlone() { table.withLock { Self.dropIfAlone(&$0) } }

    private static func dropIfAlone(_ table: inout Table) {
        guard table.children == 0 else { return }
        table.first += table.list.count
        table.list = []
        table.indexes = [:]
    }

    // MARK: Renaming

    /// Records that the object of `old` is now named `new`. Called on the root's queue.
    /// - Parameter isMerge: whether `new` already named an object, which the other one has become part of.
    func rename(_ old: ObjectKey, to new: ObjectKey, isMerge: Bool = false) {
        table.withLock { table in
            table.indexes[old] = table.first + table.list.count
            table.list.append(Rename(old: old, new: new, isMerge: isMerge))
            renames.store(table.first + table.list.count, ordering: .releasing)
        }
    }

    /// As `rename`, but does nothing if no child lives.
    func renameForChildren(_ old: ObjectKey, to new: ObjectKey, isMerge: Bool = false) {
        guard table.withLock({ $0.children > 0 }) else { return }
        rename(old, to: new, isMerge: isMerge)
    }

    /// Returns the name of a key for a context that has adopted the first `seen` renames.
    func current(_ key: ObjectKey, seen: Int) -> ObjectKey {
        guard seen > 0 else { return key }
        return table.withLock { Self.current(key, seen: seen, $0) }
    }

    private static func current(_ key: ObjectKey, seen: Int, _ table: borrowing Table) -> ObjectKey {
        var key = key
        while let index = table.indexes[key], index < seen { key = table.list[index - table.first].new }
        return key
    }

    /// Returns the renames after the first `seen`, as old keys with their newest names, and the number of renames after which they are all
    /// adopted.
    func renames(after seen: Int) -> (map: [ObjectKey: ObjectKey], count: Int) {
        table.withLock { table in
            let count = table.first + table.list.count
            var map: [ObjectKey: ObjectKey] = [:]
            for rename in table.list.dropFirst(max(0, seen - table.first)) {
                map[rename.old] = Self.current(rename.old, seen: count, table)
            }
            return (map, count)
        }
    }

    /// Returns, by new key, the names under which a context that has adopted `seen` renames knows the renamed objects; nil if there are
    /// none.
    func oldNames(after seen: Int) -> [ObjectKey: ObjectKey]? {
        guard count != seen else { return nil }
        return table.withLock { table in
            var map: [ObjectKey: ObjectKey] = [:]
            for rename in table.list.dropFirst(max(0, seen - table.first)) where !rename.isMerge { map[rename.new] = rename.old }
            return map.isEmpty ? nil : map
        }
    }
}
