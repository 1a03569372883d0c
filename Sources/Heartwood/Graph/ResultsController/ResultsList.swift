import Foundation

/// What a fetched results controller has: objects in order, in sections, and what they were ordered by.
///
/// An entry is a key, and refers to its object only where that is to be kept. The values of the order stand beside the entries, in one array,
/// so that a changed object finds its place by comparing values: no other object is asked, and the order is right even where rows or
/// objects have changed that nobody has told of.
///
/// Invariants:
/// 1. `sections` begin at rising places, the first at 0, none of them is empty, and no two have one name. Without a section key path there
///    is one section, be there entries or not.
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
    /// Of a request for dictionaries, in place of the keys in `entries`, which are none.
    fileprivate(set) var dictionaries: [NSDictionary] = []
    fileprivate(set) var sections: [Section] = []
    var order: [PredicateValue]?
    fileprivate(set) var hasTemporaryKeys = false

    var count: Int { entries.count }

    // MARK: Places

    /// The section that an entry is in. O(log sections).
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

    /// nil where there is no such place.
    func index(of path: IndexPath) -> Int? {
        guard path.count == 2, sections.indices.contains(path[0]) else { return nil }
        let range = range(ofSection: path[0])
        return path[1] >= 0 && path[1] < range.count ? range.lowerBound + path[1] : nil
    }

    /// The places of some objects, in rising order. O(entries), and no more than a look at most of them.
    func indices(of keys: Set<ObjectKey>) -> [Int] {
        if keys.count == 1, let key = keys.first { return entries.firstIndex { $0.key == key }.map { [$0] } ?? [] }
        let filter = keys.reduce(0 as UInt64) { $0 | 1 << ($1.rawValue & 63) }
        return entries.indices.filter { index in
            let key = entries[index].key
            return filter & 1 << (key.rawValue & 63) != 0 && keys.contains(key)
        }
    }

    // MARK: Changing

    /// Takes over the keys that objects have got since.
    /// - Parameter keepsObjects: also of entries that need theirs no more.
    /// - Returns: the places of those that have.
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

    /// Has the entries refer to other objects of the same keys. An object that was never saved stays, as nothing has its key.
    mutating func renewObjects(_ object: (ObjectKey) -> NSManagedObject?) {
        for index in entries.indices where entries[index].object != nil && !entries[index].key.isTemporary {
            if let new = object(entries[index].key) { entries[index].object = new }
        }
    }

    /// The list with some entries taken out and others put in where the order has them.
    /// - Parameters:
    ///   - removed: in rising order.
    ///   - added: in order.
    /// - Returns: the list, and where the added ones are.
    /// - Throws: `SectionsOutOfOrder`.
    func replacing(_ removed: [Int], with added: [ResultsQuery.Judged], _ query: ResultsQuery) throws -> (list: ResultsList, places: [Int]) {
        var builder = ResultsListBuilder(query, isOrdered: true, capacity: entries.count + added.count)
        var places: [Int] = []
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
            places.append(builder.list.count)
            try builder.append(item)
        }
        try keep(to: max(next, entries.count))
        return (builder.finished(), places)
    }
}

/// Sections that come in pieces: objects are not sorted by what gives their sections' names.
struct SectionsOutOfOrder: Error {
    let name: String
    let before: String
}

/// Puts a list together, entry by entry.
struct ResultsListBuilder {
    private(set) var list = ResultsList()
    private let width: Int
    private let hasSections: Bool
    private let keepsObjects: Bool
    private var names: Set<ExactText> = []
    /// What the newest entry's section was named after.
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

    /// One more of the values that the newest entry is ordered by.
    mutating func append(order value: PredicateValue) { list.order?.append(value) }

    /// Says what the newest entry's section is named after, or that of `index`.
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

    mutating func append(_ item: ResultsQuery.Judged) throws {
        append(item.object.key, item.object)
        list.order?.append(contentsOf: item.order)
        if hasSections { try begin(item.section, at: list.count - 1) }
    }

    /// Entries of another list.
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

    /// Takes the sections of another list with as many entries.
    mutating func take(_ sections: [ResultsList.Section]) { list.sections = sections }

    func finished() -> ResultsList { list }
}
