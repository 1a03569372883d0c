import Foundation

/// The difference between two lists. Indices of the old list are called `old`, those of the new list `new`.
///
/// Invariants:
/// 1. The entries of both lists that are not moves have the same order in both, and stay in their sections.
/// 2. Removing all old indices of deletions and moves, and adding all new indices of insertions and moves, turns the old list into the new one.
struct ResultsChange {
    typealias Pair = (old: Int, new: Int)

    private(set) var deleted: [Int] = []
    private(set) var inserted: [Int] = []
    private(set) var moved: [Pair] = []
    private(set) var updated: [Pair] = []
    private(set) var deletedSections: [Int] = []
    private(set) var insertedSections: [Int] = []

    var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty
    }

    /// - Parameters:
    ///   - deleted: in ascending order.
    ///   - inserted: in ascending order.
    ///   - touched: entries of both lists that may have moved. All others keep their order.
    ///   - isChanged: whether the entry at a new index has itself changed.
    init(
        from old: ResultsList, to new: ResultsList, deleted: [Int], inserted: [Int], touched: [Pair], isChanged: (Int) -> Bool
    ) {
        self.deleted = deleted
        self.inserted = inserted
        let touched = touched.sorted { $0.old < $1.old }
        let sections = Self.commonSections(old, new)
        // An entry has moved past an unmoved one if the number of unmoved entries before it differs.
        let goneBefore = Self.ranks(touched.map(\.old), among: deleted)
        let byNew = touched.indices.sorted { touched[$0].new < touched[$1].new }
        var comeBefore = [Int](repeating: 0, count: touched.count)
        for (index, rank) in zip(byNew, Self.ranks(byNew.map { touched[$0].new }, among: inserted)) { comeBefore[index] = rank }
        let candidates = touched.indices.filter { index in
            touched[index].old - goneBefore[index] == touched[index].new - comeBefore[index]
                && sections[old.section(of: touched[index].old)] == new.section(of: touched[index].new)
        }
        var stays = [Bool](repeating: false, count: touched.count)
        for position in LongestIncreasingSubsequence.indexes(in: candidates.map { touched[$0].new }) { stays[candidates[position]] = true }
        for (index, pair) in touched.enumerated() {
            if !stays[index] { moved.append(pair) } else if isChanged(pair.new) { updated.append(pair) }
        }
        findSections(old, new, sections)
    }

    /// For each index, the number of these indices and of others before it. Both are in ascending order.
    private static func ranks(_ indexes: [Int], among others: [Int]) -> [Int] {
        var next = 0
        return indexes.enumerated().map { index, number in
            while next < others.count, others[next] < number { next += 1 }
            return index + next
        }
    }

    /// By old section: the index of the new section of the same name; -1 for none.
    private static func commonSections(_ old: ResultsList, _ new: ResultsList) -> [Int] {
        if old.sections.elementsEqual(new.sections, by: { $0.name.hasSameBytes(as: $1.name) }) { return Array(old.sections.indices) }
        var indexes: [ExactText: Int] = [:]
        for (index, section) in new.sections.enumerated() { indexes[ExactText(section.name)] = index }
        return old.sections.map { indexes[ExactText($0.name)] ?? -1 }
    }

    /// A section is deleted with its name, or if it would have to move past a section that stays. A section with an unmoved entry never moves past
    /// another.
    private mutating func findSections(_ old: ResultsList, _ new: ResultsList, _ common: [Int]) {
        var remaining = old.sections.indices.map { old.range(ofSection: $0).count }
        for index in deleted { remaining[old.section(of: index)] -= 1 }
        for pair in moved { remaining[old.section(of: pair.old)] -= 1 }
        var kept = old.sections.indices.filter { common[$0] >= 0 && remaining[$0] > 0 }
        for section in old.sections.indices where common[section] >= 0 && remaining[section] <= 0 {
            let fits = kept.allSatisfy { ($0 < section) == (common[$0] < common[section]) }
            if fits { kept.append(section) }
        }
        let keptOld = Set(kept), keptNew = Set(kept.map { common[$0] })
        deletedSections = old.sections.indices.filter { !keptOld.contains($0) }
        insertedSections = new.sections.indices.filter { !keptNew.contains($0) }
    }
}
