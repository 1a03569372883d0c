import Foundation

/// The contents of a fetched results controller: objects in order, in sections, with the values that they were ordered by.
///
/// An entry is a key, and refers to its object only if that is to be retained. The values of the order are stored beside the entries, in one array,
/// so that a changed object finds its index by comparing values. That reads no other object, and the order is right even if rows or objects have
/// changed without a report.
///
/// Invariants:
/// 1. `sections` begin at rising indices, the first at 0; none is empty, and no two have the same name. Without a section key path there is one
///    section, even without entries.
/// 2. `order` has `width` values for each entry, and entries are in that order; or it is nil.
/// 3. An entry with a temporary key has its object.
struct ResultsList {
    struct Entry {
        var key: ObjectKey
        var object: NSManagedObject?
    }

    struct Section {
        let name: String
        let start: Int
    }

    fileprivate(set) var entries: [Entry] = []
    /// The results of a request for dictionaries. The keys in `entries` are then `none`.
    fileprivate(set) var dictionaries: [NSDictionary] = []
    fileprivate(set) var sections: [Section] = []
    var order: [PredicateValue]?
    fileprivate(set) var hasTemporaryKeys = false

    var count: Int { entries.count }

    // MARK: Positions

    /// The section of an entry. O(log sections).
    func section(of index: Int) -> Int {
        var low = 0, high = sections.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if sections[middle].start <= index { low = middle } else { high = middle }
        }
        return low
    }

    func range(ofSection index: Int) -> Range<Int> {
        sections[index].start..<(index + 1 < sections.count ? sections[index + 1].start : entries.count)
    }

    func indexPath(of index: Int) -> IndexPath {
        let section = section(of: index)
        return IndexPath(indexes: [section, index - sections[section].start])
    }

    /// nil if the index path leads nowhere.
    func index(of path: IndexPath) -> Int? {
        guard path.count == 2, sections.indices.contains(path[0]) else { return nil }
        let range = range(ofSection: path[0])
        return path[1] >= 0 && path[1] < range.count ? range.lowerBound + path[1] : nil
    }

    /// The indices of some objects, in ascending order. O(entries), with a cheap test for most of them.
    func indices(of keys: Set<ObjectKey>) -> [Int] {
        if keys.count == 1, let key = keys.first { return entries.firstIndex { $0.key == key }.map { [$0] } ?? [] }
        let filter = keys.reduce(0 as UInt64) { $0 | 1 << ($1.rawValue & 63) }
        return entries.indices.filter { index in
            let key = entries[index].key
            return filter & 1 << (key.rawValue & 63) != 0 && keys.contains(key)
        }
    }

    // MARK: Changing

    /// Adopts the keys that objects have got since.
    /// - Parameter keepsObjects: whether entries with permanent keys keep their objects.
    /// - Returns: the indices of the entries with new keys.
    mutating func adoptKeys(keepsObjects: Bool) -> [Int] {
        guard hasTemporaryKeys else { return [] }
        var renamed: [Int] = []
        hasTemporaryKeys = false
        for index in entries.indices {
            guard let object = entries[index].object else { continue }
            if object.key != entries[index].key {
                entries[index].key = object.key
                renamed.append(index)
            }
            if object.key.isTemporary { hasTemporaryKeys = true } else if !keepsObjects { entries[index].object = nil }
        }
        return renamed
    }

    /// Replaces the entries' objects by others with the same keys. An object that was never saved stays, since no other has its key.
    mutating func renewObjects(_ object: (ObjectKey) -> NSManagedObject?) {
        for index in entries.indices where entries[index].object != nil && !entries[index].key.isTemporary {
            if let new = object(entries[index].key) { entries[index].object = new }
        }
    }

    /// The list with some entries removed and others inserted in order.
    /// - Parameters:
    ///   - removed: in ascending order.
    ///   - added: in order.
    /// - Returns: the list, and the indices of the added entries.
    /// - Throws: `SectionsOutOfOrder`.
    func replacing(_ removed: [Int], with added: [ResultsQuery.Candidate], _ query: ResultsQuery) throws -> (list: ResultsList, indexes: [Int]) {
        var builder = ResultsListBuilder(query, isOrdered: true, capacity: entries.count + added.count)
        var indexes: [Int] = []
        var next = 0, toSkip = removed[...]
        func keep(to end: Int) throws {
            while let skipped = toSkip.first, skipped < end {
                try builder.append(next..<skipped, of: self)
                next = skipped + 1
                toSkip = toSkip.dropFirst()
            }
            try builder.append(next..<end, of: self)
            next = max(next, end)
        }
        for item in added {
            try keep(to: max(next, query.index(of: item, in: self)))
            indexes.append(builder.list.count)
            try builder.append(item)
        }
        try keep(to: max(next, entries.count))
        return (builder.finished(), indexes)
    }
}

/// A section appears in several pieces: objects are not sorted by their sections' names.
struct SectionsOutOfOrder: Error {
    let name: String
    let before: String
}

/// Builds a list, entry by entry.
struct ResultsListBuilder {
    private(set) var list = ResultsList()
    private let width: Int
    private let hasSections: Bool
    private let keepsObjects: Bool
    private var names: Set<ExactText> = []
    /// The value that named the newest entry's section.
    private var newest = PredicateValue.null

    init(_ query: ResultsQuery, isOrdered: Bool, capacity: Int = 0) {
        width = isOrdered ? query.fetch.sort.count : 0
        hasSections = query.section != nil
        keepsObjects = query.keepsObjects
        list.entries.reserveCapacity(capacity)
        list.order = isOrdered ? [] : nil
        list.order?.reserveCapacity(capacity * width)
        if !hasSections { list.sections = [.init(name: "", start: 0)] }
    }

    mutating func append(_ key: ObjectKey, _ object: NSManagedObject?) {
        list.entries.append(.init(key: key, object: keepsObjects || key.isTemporary ? object : nil))
        if key.isTemporary { list.hasTemporaryKeys = true }
    }

    mutating func append(_ dictionary: NSDictionary) {
        list.dictionaries.append(dictionary)
        list.entries.append(.init(key: .none, object: nil))
    }

    /// Appends one of the newest entry's order values.
    mutating func append(order value: PredicateValue) { list.order?.append(value) }

    /// Sets the value that names the section of the newest entry, or of the entry at `index`.
    mutating func append(section value: PredicateValue, at index: Int? = nil) throws {
        guard list.sections.isEmpty || !value.isSameSection(as: newest) else { return }
        newest = value
        try begin(value.sectionName, at: index ?? list.count - 1)
    }

    private mutating func begin(_ name: String, at index: Int) throws {
        if let last = list.sections.last, last.name.hasSameBytes(as: name) { return }
        guard names.insert(ExactText(name)).inserted else {
            throw SectionsOutOfOrder(name: name, before: list.sections.last?.name ?? "")
        }
        list.sections.append(.init(name: name, start: index))
    }

    mutating func append(_ item: ResultsQuery.Candidate) throws {
        append(item.object.key, item.object)
        list.order?.append(contentsOf: item.order)
        if hasSections { try begin(item.section, at: list.count - 1) }
    }

    /// Appends entries of another list.
    mutating func append(_ range: Range<Int>, of other: ResultsList) throws {
        guard !range.isEmpty else { return }
        let shift = list.count - range.lowerBound
        if hasSections {
            for section in other.section(of: range.lowerBound)...other.section(of: range.upperBound - 1) {
                try begin(other.sections[section].name, at: max(other.sections[section].start, range.lowerBound) + shift)
            }
        }
        list.entries.append(contentsOf: other.entries[range])
        list.order?.append(contentsOf: (other.order ?? [])[range.lowerBound * width..<range.upperBound * width])
        list.hasTemporaryKeys = list.hasTemporaryKeys || other.hasTemporaryKeys
    }

    /// Adopts the sections of another list with as many entries.
    mutating func take(_ sections: [ResultsList.Section]) { list.sections = sections }

    func finished() -> ResultsList { list }
}
