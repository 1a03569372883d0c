import Foundation

/// The members of a list by their hashes: whether a value equals one of them takes one look and not one comparison with each.
///
/// (1) Values that are equal have equal hashes, texts and URLs equal folded texts.
/// (2) `rest` has the members for which (1) does not hold. They are compared one by one.
final class MemberTable: @unchecked Sendable {
    // Unchecked: nothing changes once it is made.
    private let list: [PredicateValue]
    private let options: PredicateNode.Options
    private var texts: Set<ExactText> = []
    /// By hash, the position of a member.
    private var first: [Int: Int] = [:]
    /// By position, that of another member of the same hash; -1 for none.
    private var next: [Int]
    private var rest: [PredicateValue] = []

    /// The members of a list that is compared as it is.
    static let shortMax = 16

    /// - Parameter options: for texts.
    init(_ list: [PredicateValue], _ options: PredicateNode.Options) {
        self.list = list
        self.options = options.effective
        next = Array(repeating: -1, count: list.count)
        var hasNull = false
        for (position, member) in list.enumerated() {
            if let text = folded(member) {
                texts.insert(text)
            } else if let hash = member.exactHash {
                next[position] = first[hash] ?? -1
                first[hash] = position
            } else {
                // Many of them are as one.
                if member.isNull, hasNull { continue }
                hasNull = hasNull || member.isNull
                rest.append(member)
            }
        }
    }

    /// nil for a value without a text, and where a locale decides whether texts are equal.
    private func folded(_ value: PredicateValue) -> ExactText? {
        guard !options.contains(.localeSensitive), let text = value.comparedText else { return nil }
        return ExactText(TextMatcher.fold(text, options))
    }

    /// - Parameter isEqual: compares the value with a member.
    func contains(_ value: PredicateValue, _ isEqual: (PredicateValue, PredicateValue) throws -> Bool) rethrows -> Bool {
        if let text = folded(value) { return texts.contains(text) }
        // Equal to numbers of other hashes.
        if case .decimal = value { return try list.contains { try isEqual(value, $0) } }
        var position = value.exactHash.flatMap { first[$0] } ?? -1
        while position >= 0 {
            if try isEqual(value, list[position]) { return true }
            position = next[position]
        }
        return try rest.contains { try isEqual(value, $0) }
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

    /// Equal values have equal hashes. nil for a decimal, which loses digits as a double; for a text, whose options are not asked here; for an object
    /// without a permanent ID, which gets another one; and for values without a hash.
    fileprivate var exactHash: Int? {
        switch self {
        case .null, .collection, .other, .decimal, .text, .url: nil
        case .object(let object): object.objectID.isTemporaryID ? nil : equalityHash
        case .objectID(let id): id.isTemporaryID ? nil : equalityHash
        default: equalityHash
        }
    }
}
