import Synchronization

/// What two Swift predicates have in common if they differ only in captured values: the type of the expression, which has its structure, the key
/// paths, and what else the type does not say.
struct PredicateShape: @unchecked Sendable {
    // Unchecked: key paths are immutable.
    let type: ObjectIdentifier
    var keyPaths: [AnyKeyPath] = []
    /// Those of other predicates that it asks.
    var innerTypes: [ObjectIdentifier] = []
    /// Operators and numbers of variables, in the order of the expression.
    var marks: [UInt8] = []

    init(_ type: ObjectIdentifier) { self.type = type }

    /// A literal is one object each time the program comes to it.
    fileprivate func isSame(as other: PredicateShape) -> Bool {
        guard type == other.type, keyPaths.count == other.keyPaths.count else { return false }
        for index in 0..<keyPaths.count where keyPaths[index] !== other.keyPaths[index] { return false }
        return marks == other.marks && innerTypes == other.innerTypes
    }

    fileprivate var hash: Int {
        var hash = UInt(bitPattern: type.address)
        for keyPath in keyPaths { hash = (hash ^ UInt(bitPattern: ObjectIdentifier(keyPath).address)) &* 0x9E37_79B9_7F4A_7C15 }
        return Int(truncatingIfNeeded: hash >> 32)
    }
}

extension ObjectIdentifier {
    fileprivate var address: Int { Int(bitPattern: self) }
}

/// The formats of an entity's Swift predicates, found by their shapes without a lock.
///
/// A count of models by a unique text takes 46,700 instructions with a known shape. Without one the translation takes some 43,000 more, and the query
/// 17,500 more, since only a format has a kept plan (`predicates-known` and `predicates-anew` of Benchmarks/instructions, 2026-11-30).
///
/// Invariants:
/// 1. `kept` lets go of nothing, so readers need no lock (`AtomicTable`).
/// 2. `kept` has at most `keptMax` shapes; then no more are kept.
final class PredicateShapes: Sendable {
    final class Known: Sendable {
        fileprivate let shape: PredicateShape
        /// nil for a shape whose translation depends on the values.
        let format: FormatTemplate?

        init(_ shape: PredicateShape, _ format: FormatTemplate?) { (self.shape, self.format) = (shape, format) }
    }

    private static let count = 64
    private static let keptMax = count / 2

    private let entries = AtomicTable<Known>(count: count)
    private let kept = Mutex<[Known]>([])

    func find(_ shape: PredicateShape) -> Known? {
        var index = shape.hash & (Self.count - 1)
        while let known = entries[index]?.takeUnretainedValue() {
            if known.shape.isSame(as: shape) { return known }
            index = (index &+ 1) & (Self.count - 1)
        }
        return nil
    }

    /// Whether one more shape is kept. A format costs more than a translation to make.
    var hasRoom: Bool { kept.withLock { $0.count < Self.keptMax } }

    func keep(_ known: Known) {
        kept.withLock { kept in
            guard kept.count < Self.keptMax, find(known.shape) == nil else { return }
            var index = known.shape.hash & (Self.count - 1)
            while entries[index] != nil { index = (index &+ 1) & (Self.count - 1) }
            kept.append(known)
            entries.set(index, to: known)
        }
    }
}
