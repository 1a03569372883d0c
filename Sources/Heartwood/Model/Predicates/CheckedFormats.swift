import Synchronization

/// The formats that an entity of a model in use has passed the check for. The result of the check does not depend on the arguments.
final class CheckedFormats: Sendable {
    private static let limit = 256
    private let numbers = Mutex<Set<Int>>([])

    /// - Parameter check: called unless it succeeded for this format before.
    func check(_ number: Int, _ check: () throws -> Void) throws {
        guard !numbers.withLock({ $0.contains(number) }) else { return }
        try check()
        numbers.withLock { numbers in
            if numbers.count >= Self.limit { numbers.removeAll() }
            numbers.insert(number)
        }
    }
}
