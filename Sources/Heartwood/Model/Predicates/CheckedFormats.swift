import Synchronization

/// Formats that an entity of a model in use may be asked, as they were found to be: what is checked is the same whatever their arguments.
final class CheckedFormats: Sendable {
    private static let limit = 256
    private let numbers = Mutex<Set<Int>>([])

    /// - Parameter check: not called where it did not throw for this format before.
    func check(_ number: Int, _ check: () throws -> Void) throws {
        guard !numbers.withLock({ $0.contains(number) }) else { return }
        try check()
        numbers.withLock { numbers in
            if numbers.count >= Self.limit { numbers.removeAll() }
            numbers.insert(number)
        }
    }
}
