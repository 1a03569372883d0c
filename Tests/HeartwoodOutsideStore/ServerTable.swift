import Foundation
import Heartwood

/// A row's place in a database.
struct ServerReference: Hashable, Sendable {
    let table: Int
    let number: UInt64
}

/// A column's value. Null is no value.
enum ServerValue: Equatable, Sendable {
    case bool(Bool), integer(Int64), double(Double), text(String), bytes(Data), uuid(UUID), decimal(Decimal), reference(ServerReference)

    /// Whether two values are stored alike: texts by their bytes, numbers by their bits.
    func isSame(as other: ServerValue) -> Bool {
        switch (self, other) {
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        default: self == other
        }
    }

    /// The value's part of a key in an index.
    var key: [UInt8] {
        func bytes<Value: BitwiseCopyable>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        return switch self {
        case .bool(let flag): [flag ? 1 : 0]
        case .integer(let number): bytes(number)
        // 0 and -0 are one value.
        case .double(let number): bytes(number == 0 ? 0 : number)
        case .text(let text): bytes(text.utf8.count) + Array(text.utf8)
        case .bytes(let data): bytes(data.count) + Array(data)
        case .uuid(let uuid): bytes(uuid.storedBytes.0) + bytes(uuid.storedBytes.1)
        case .decimal(let number): bytes(number.description.utf8.count) + Array(number.description.utf8)
        case .reference(let reference): bytes(reference.table) + bytes(reference.number)
        }
    }
}

final class ServerRow: Sendable {
    let values: [ServerValue?]
    let version: UInt32

    init(values: [ServerValue?], version: UInt32) { (self.values, self.version) = (values, version) }
}

/// The rows of one entity, by their numbers.
struct ServerTable: Sendable {
    var name: String
    var columns: [String]
    private(set) var rows: [UInt64: ServerRow] = [:]
    /// The numbers of the rows, ascending.
    private(set) var numbers: [UInt64] = []
    private var last: UInt64 = 0
    /// The versions of rows that were deleted. A row that is written again goes on from there, so that no version names two contents.
    private(set) var lastVersions: [UInt64: UInt32] = [:]
    /// By column: the numbers of the rows that refer to a row, ascending.
    private(set) var sources: [Int: [ServerReference: [UInt64]]] = [:]

    init(name: String, columns: [String]) { (self.name, self.columns) = (name, columns) }

    mutating func newNumber() -> UInt64 {
        last += 1
        return last
    }

    /// The version of a new row with this number.
    func firstVersion(_ number: UInt64) -> UInt32 { (lastVersions[number] ?? 0) + 1 }

    mutating func put(_ number: UInt64, _ row: ServerRow) {
        let old = rows[number]
        if old == nil { Self.insert(number, into: &numbers) }
        last = max(last, number)
        note(number, old?.values ?? [], row.values)
        rows[number] = row
    }

    mutating func delete(_ number: UInt64) {
        guard let old = rows.removeValue(forKey: number) else { return }
        Self.remove(number, from: &numbers)
        lastVersions[number] = old.version
        note(number, old.values, [])
    }

    private mutating func note(_ number: UInt64, _ old: [ServerValue?], _ new: [ServerValue?]) {
        for column in 0..<max(old.count, new.count) {
            let before = Self.reference(old, column), after = Self.reference(new, column)
            guard before != after else { continue }
            if let before { Self.remove(number, from: &sources[column, default: [:]][before, default: []]) }
            if let after { Self.insert(number, into: &sources[column, default: [:]][after, default: []]) }
        }
    }

    private static func reference(_ values: [ServerValue?], _ column: Int) -> ServerReference? {
        guard column < values.count, case .reference(let reference)? = values[column] else { return nil }
        return reference
    }

    // MARK: Ascending lists

    private static func place(_ number: UInt64, in list: [UInt64]) -> Int {
        guard let last = list.last, last >= number else { return list.count }
        var low = 0, high = list.count
        while low < high {
            let middle = (low + high) / 2
            if list[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func insert(_ number: UInt64, into list: inout [UInt64]) {
        let place = place(number, in: list)
        if place == list.count || list[place] != number { list.insert(number, at: place) }
    }

    private static func remove(_ number: UInt64, from list: inout [UInt64]) {
        let place = place(number, in: list)
        if place < list.count, list[place] == number { list.remove(at: place) }
    }
}

/// The pairs of a relationship that has a table of its own.
struct ServerLinks: Sendable {
    let name: String
    /// The members of each owner, in its order.
    private(set) var forward: [ServerReference: [ServerReference]] = [:]
    /// The owners of each member, in its order.
    private(set) var backward: [ServerReference: [ServerReference]] = [:]

    init(name: String) { self.name = name }

    func members(of owner: ServerReference, isForward: Bool) -> [ServerReference] { (isForward ? forward : backward)[owner] ?? [] }

    /// Makes these the owner's members.
    /// - Parameter isExclusive: whether a member has at most one owner.
    mutating func set(_ members: [ServerReference], of owner: ServerReference, isExclusive: Bool) {
        let old = Set(forward[owner] ?? []), new = Set(members)
        for member in old where !new.contains(member) { backward[member]?.removeAll { $0 == owner } }
        for member in members where !old.contains(member) {
            if isExclusive {
                for former in backward[member] ?? [] { forward[former]?.removeAll { $0 == member } }
                backward[member] = []
            }
            backward[member, default: []].append(owner)
        }
        forward[owner] = members.isEmpty ? nil : members
    }

    /// Puts the owners of a member in this order. Owners that it does not name come last.
    mutating func order(_ owners: [ServerReference], of member: ServerReference) {
        let known = backward[member] ?? [], wanted = owners.filter(Set(known).contains), named = Set(wanted)
        backward[member] = wanted + known.filter { !named.contains($0) }
    }

    mutating func removeAll(of reference: ServerReference) {
        for member in forward.removeValue(forKey: reference) ?? [] { backward[member]?.removeAll { $0 == reference } }
        for owner in backward.removeValue(forKey: reference) ?? [] { forward[owner]?.removeAll { $0 == reference } }
    }
}

/// A uniqueness constraint over the tables of a family, with its index.
struct ServerConstraint: Sendable {
    let attributes: [String]
    /// By table: the constraint's columns.
    private(set) var columns: [Int: [Int]] = [:]
    private var index: [[UInt8]: Set<ServerReference>] = [:]

    init(attributes: [String]) { self.attributes = attributes }

    mutating func cover(_ table: Int, _ columns: [Int]) { self.columns[table] = columns }

    /// A row's key; nil where a value is null, which equals nothing.
    func key(of values: [ServerValue?], in table: Int) -> [UInt8]? {
        guard let columns = columns[table] else { return nil }
        var key: [UInt8] = []
        for column in columns {
            guard let value = values[column] else { return nil }
            key += value.key
        }
        return key
    }

    /// The rows that have a key.
    func holders(of key: [UInt8]) -> Set<ServerReference> { index[key] ?? [] }

    mutating func replace(_ old: [ServerValue?]?, _ new: [ServerValue?]?, of reference: ServerReference) {
        guard columns[reference.table] != nil else { return }
        let before = old.flatMap { key(of: $0, in: reference.table) }, after = new.flatMap { key(of: $0, in: reference.table) }
        guard before != after else { return }
        if let before {
            index[before]?.remove(reference)
            if index[before]?.isEmpty == true { index[before] = nil }
        }
        if let after { index[after, default: []].insert(reference) }
    }
}
