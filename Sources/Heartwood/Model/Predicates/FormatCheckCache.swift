import Synchronization

/// The formats that an entity of a model in use has passed the check for. The result of the check does not depend on the arguments.
///
/// A table of numbers without a lock, since each fetch looks here. A number that displaces another one costs that format another check.
final class FormatCheckCache: @unchecked Sendable {
    // Unchecked: the entries are atomic, and the pointer never changes.
    private static let count = 64
    /// A format's number at its remainder; 0 for none, since numbers begin with 1.
    private let numbers: UnsafeMutablePointer<Atomic<Int>>

    init() {
        numbers = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (numbers + index).initialize(to: Atomic(0)) }
    }

    deinit {
        numbers.deinitialize(count: Self.count)
        numbers.deallocate()
    }

    /// - Parameter check: called unless it succeeded for this format before.
    func check(_ number: Int, _ check: () throws -> Void) throws {
        let index = number & (Self.count - 1)
        guard numbers[index].load(ordering: .relaxed) != number else { return }
        try check()
        numbers[index].store(number, ordering: .relaxed)
    }
}
