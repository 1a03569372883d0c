import Synchronization

/// What a root context, its children and theirs have in common: the numbers of their temporary keys, and which keys were renamed
/// since. Safe to use from several queues.
///
/// A key is renamed when its object gets a row: by the root's save, or ahead of it by `obtainPermanentIDs(for:)`. Each context of the
/// tree takes the new names over where it holds no key in its hands (`NSManagedObjectContext.adoptKeys()`), so a name does not
/// change under code that compares keys.
///
/// Invariants:
/// 1. `count` never falls: it is the number of renames so far, those that were dropped included.
/// 2. Renames are kept while a child lives. A child that is made later knows none of the old names.
final class ContextTree: Sendable {
    private struct Rename {
        let old: ObjectKey
        let new: ObjectKey
        /// Whether the new key belonged to another object before.
        let isMerge: Bool
    }

    private struct Table {
        var first = 0
        var list: [Rename] = []
        /// By old key: the place of its rename.
        var places: [ObjectKey: Int] = [:]
        var children = 0
    }

    private static let trees = Atomic<UInt64>(0)

    /// Tells the temporary IDs of one tree from those of another.
    let token = trees.wrappingAdd(1, ordering: .relaxed).newValue
    private let numbers = Atomic<UInt64>(0)
    private let pinned = Atomic<Bool>(false)
    private let renames = Atomic<Int>(0)
    private let table = Mutex(Table())

    /// Whether the root reads older commits than the newest, perhaps. Set on its queue.
    var isPinned: Bool {
        get { pinned.load(ordering: .relaxed) }
        set { pinned.store(newValue, ordering: .relaxed) }
    }

    /// A number that no other temporary key of the tree has.
    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).newValue }

    /// How many renames there were.
    @inline(__always)
    var count: Int { renames.load(ordering: .acquiring) }

    func join() { table.withLock { $0.children += 1 } }

    func leave() {
        table.withLock { table in
            table.children -= 1
            Self.dropIfAlone(&table)
        }
    }

    /// Forgets old names where no child can know them.
    func dropIfAlone() { table.withLock { Self.dropIfAlone(&$0) } }

    private static func dropIfAlone(_ table: inout Table) {
        guard table.children == 0 else { return }
        table.first += table.list.count
        table.list = []
        table.places = [:]
    }

    // MARK: Renaming

    /// Says that the object of `old` is that of `new` from now on. Called on the root's queue.
    /// - Parameter isMerge: the object of `new` was there before, and the other one has become part of it.
    func rename(_ old: ObjectKey, to new: ObjectKey, isMerge: Bool = false) {
        table.withLock { table in
            table.places[old] = table.first + table.list.count
            table.list.append(Rename(old: old, new: new, isMerge: isMerge))
            renames.store(table.first + table.list.count, ordering: .releasing)
        }
    }

    /// The same, which costs nothing where no child lives.
    func renameForChildren(_ old: ObjectKey, to new: ObjectKey, isMerge: Bool = false) {
        guard table.withLock({ $0.children > 0 }) else { return }
        rename(old, to: new, isMerge: isMerge)
    }

    /// The name of a key for a context that has adopted the first `seen` renames.
    func current(_ key: ObjectKey, seen: Int) -> ObjectKey {
        guard seen > 0 else { return key }
        return table.withLock { Self.current(key, seen: seen, $0) }
    }

    private static func current(_ key: ObjectKey, seen: Int, _ table: borrowing Table) -> ObjectKey {
        var key = key
        while let index = table.places[key], index < seen { key = table.list[index - table.first].new }
        return key
    }

    /// What was renamed after the first `seen` times: old keys with their newest names, and the count to have seen then.
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

    /// By new key: the names under which a context knows objects that were renamed after the first `seen` times; nil for none.
    func oldNames(after seen: Int) -> [ObjectKey: ObjectKey]? {
        guard count != seen else { return nil }
        return table.withLock { table in
            var map: [ObjectKey: ObjectKey] = [:]
            for rename in table.list.dropFirst(max(0, seen - table.first)) where !rename.isMerge { map[rename.new] = rename.old }
            return map.isEmpty ? nil : map
        }
    }
}
