import Foundation
import Synchronization

/// The members of a list by their hashes: whether a value equals one of them takes one look and not one comparison with each.
///
/// (1) Values that are equal have equal hashes, texts and URLs equal folded texts.
/// (2) Decimals are equal to other numbers by their decimal form, others among each other by their value. So numbers have two hashes.
/// (3) An unsaved object's hash is that of its present ID, and is taken anew once objects have got other IDs.
/// (4) `rest` has the members for which this does not hold. They are compared one by one.
final class MemberTable: @unchecked Sendable {
    // Unchecked: nothing changes once it is made, but for what a mutex holds.
    private let list: [PredicateValue]
    private let options: PredicateNode.Options
    private let texts: Set<ExactText>
    private let exact: HashChains
    /// The members that are decimals, by their decimal form.
    private let decimals: HashChains
    /// The other numbers by their decimal form; nil until a decimal is looked for.
    private let othersAsDecimals = Mutex<HashChains?>(nil)
    /// The positions of objects and IDs that are not saved.
    private let unsaved: [Int]
    /// nil until one is looked for.
    private let unsavedByID = Mutex<(changes: UInt64, chains: HashChains)?>(nil)
    private let rest: [PredicateValue]

    /// The members of a list that is compared as it is.
    static let shortMax = 16

    /// - Parameter options: for texts.
    init(_ list: [PredicateValue], _ options: PredicateNode.Options) {
        let options = options.effective
        (self.list, self.options) = (list, options)
        var texts: Set<ExactText> = [], exact = HashChains(list.count), decimals = HashChains(list.count)
        var unsaved: [Int] = [], rest: [PredicateValue] = []
        var hasNull = false
        for (position, member) in list.enumerated() {
            if let text = Self.folded(member, options) {
                texts.insert(text)
            } else if let hash = member.exactHash {
                exact.add(position, hash)
            } else if member.isDecimal, let hash = member.decimalHash {
                decimals.add(position, hash)
            } else if member.isUnsaved {
                unsaved.append(position)
            } else {
                // Many of them are as one.
                if member.isNull, hasNull { continue }
                hasNull = hasNull || member.isNull
                rest.append(member)
            }
        }
        (self.texts, self.exact, self.decimals, self.unsaved, self.rest) = (texts, exact, decimals, unsaved, rest)
    }

    /// nil for a value without a text, and for a text that a locale may take for another one.
    private static func folded(_ value: PredicateValue, _ options: PredicateNode.Options) -> ExactText? {
        guard let text = value.comparedText else { return nil }
        let folded = TextMatcher.fold(text, options)
        return !options.contains(.localeSensitive) || PlainLetters.areAll(in: folded) ? ExactText(folded) : nil
    }

    /// - Parameter isEqual: compares the value with a member.
    func contains(_ value: PredicateValue, _ isEqual: (PredicateValue, PredicateValue) throws -> Bool) rethrows -> Bool {
        func isMember(_ position: Int) throws -> Bool { try isEqual(value, list[position]) }
        if value.comparedText != nil {
            // A text that a locale may take for another one.
            guard let text = Self.folded(value, options) else { return try list.contains { try isEqual(value, $0) } }
            if texts.contains(text) { return true }
            return options.contains(.localeSensitive) ? try rest.contains { try isEqual(value, $0) } : false
        }
        if value.isDecimal {
            // One that is NaN, or too large for (2).
            guard let hash = value.decimalHash else { return try list.contains { try isEqual(value, $0) } }
            return try decimals.contains(hash, where: isMember) || othersAsDecimals(hash, where: isMember)
        }
        if let hash = value.exactHash, try exact.contains(hash, where: isMember) { return true }
        if !decimals.isEmpty, let hash = value.decimalHash, try decimals.contains(hash, where: isMember) { return true }
        if !unsaved.isEmpty, value.isIdentity, try unsavedByID(value.equalityHash, where: isMember) { return true }
        return try rest.contains { try isEqual(value, $0) }
    }

    private func othersAsDecimals(_ hash: Int, where isMember: (Int) throws -> Bool) rethrows -> Bool {
        let chains = othersAsDecimals.withLock { kept in
            if let kept { return kept }
            var made = HashChains(list.count)
            for (position, member) in list.enumerated() where !member.isDecimal {
                if let hash = member.decimalHash { made.add(position, hash) }
            }
            kept = made
            return made
        }
        return try chains.contains(hash, where: isMember)
    }

    private func unsavedByID(_ hash: Int, where isMember: (Int) throws -> Bool) rethrows -> Bool {
        let chains = unsavedByID.withLock { kept in
            let changes = NSManagedObjectID.changes
            if let kept, kept.changes == changes { return kept.chains }
            var made = HashChains(list.count)
            for position in unsaved { made.add(position, list[position].equalityHash) }
            kept = (changes, made)
            return made
        }
        return try chains.contains(hash, where: isMember)
    }
}

/// Positions in a list by hash.
private struct HashChains {
    private var first: [Int: Int] = [:]
    /// By position, the next one of the same hash; -1 for none.
    private var next: [Int] = []
    private let count: Int

    /// - Parameter count: the number of positions.
    init(_ count: Int) { self.count = count }

    var isEmpty: Bool { first.isEmpty }

    mutating func add(_ position: Int, _ hash: Int) {
        if next.isEmpty { next = Array(repeating: -1, count: count) }
        next[position] = first.updateValue(position, forKey: hash) ?? -1
    }

    func contains(_ hash: Int, where isIncluded: (Int) throws -> Bool) rethrows -> Bool {
        var position = first[hash] ?? -1
        while position >= 0 {
            if try isIncluded(position) { return true }
            position = next[position]
        }
        return false
    }
}

extension PredicateValue {
    /// The text of a string or a URL.
    var comparedText: String? {
        switch self {
        case .text(let text): text
        case .url(let url): url.absoluteString
        default: nil
        }
    }

    fileprivate var isDecimal: Bool {
        if case .decimal = self { return true }
        return false
    }

    /// Equal values have equal hashes, but for decimals. nil for a decimal, which loses digits as a double; for a text, whose options are not asked
    /// here; for an object without a permanent ID; and for values without a hash.
    fileprivate var exactHash: Int? {
        switch self {
        case .null, .collection, .other, .decimal, .text, .url: nil
        case .object(let object): object.objectID.isTemporaryID ? nil : equalityHash
        case .objectID(let id): id.isTemporaryID ? nil : equalityHash
        default: equalityHash
        }
    }

    /// A number that is equal to a decimal has its hash. nil for other values, for NaN, and for a number at the end of the range of decimals, where
    /// doubles are compared as such.
    fileprivate var decimalHash: Int? {
        guard var number = asDecimal, !number.isNaN, abs(number) < Self.decimalMax else { return nil }
        // Equal decimals may have several forms, which are not equal as doubles.
        NSDecimalCompact(&number)
        return number.double.hashValue
    }

    private static let decimalMax = Decimal(sign: .plus, exponent: 126, significand: 1)

    fileprivate var isIdentity: Bool {
        switch self {
        case .object, .objectID: true
        default: false
        }
    }

    /// Whether this is an object or an ID that will be another one, in a context that tells of it.
    fileprivate var isUnsaved: Bool {
        switch self {
        case .object(let object): object.key.isTemporary
        case .objectID(let id): id.isTemporaryID
        default: false
        }
    }
}
