import Heartwood
internal import HeartwoodPostgreSQLClient
import Synchronization

/// The numbers of new rows. A store takes blocks of them from each family's sequence, and gives them without asking the server.
final class NumberBlocks: Sendable {
    /// The step of the sequences.
    static let size: Int64 = 64

    /// By family: ranges that are not used up, the first one first.
    private let free = Mutex<[Int: [Range<Int64>]]>([:])

    /// Takes numbers, in ascending order.
    /// - Parameter read: asks the server; runs only where the blocks do not suffice.
    func take(
        _ count: Int, of family: Int, _ layout: PostgreSQLLayout, _ read: (PostgreSQLStatement, PostgreSQLParameters) throws -> PostgreSQLResult
    ) throws -> [Int64] {
        var taken: [Int64] = []
        takeFree(count, of: family, &taken)
        guard taken.count < count else { return taken }
        let blocks = (Int64(count - taken.count) + Self.size - 1) / Self.size
        var parameters = PostgreSQLParameters()
        parameters.addInt64(blocks)
        let sequence = SQLName.literal(layout.families[family].sequence)
        let result = try read(
            PostgreSQLStatement("SELECT nextval(\(sequence)::regclass) FROM generate_series(1, $1::bigint)"), parameters)
        var ranges: [Range<Int64>] = []
        for line in 0..<result.count {
            let start = try result.int64(line, 0)
            ranges.append(start..<start + Self.size)
        }
        free.withLock { $0[family, default: []] += ranges }
        takeFree(count - taken.count, of: family, &taken)
        // Another thread may have taken some meanwhile.
        return taken.count < count ? taken + (try take(count - taken.count, of: family, layout, read)) : taken
    }

    private func takeFree(_ count: Int, of family: Int, _ taken: inout [Int64]) {
        taken += free.withLock { free in
            var found: [Int64] = []
            while found.count < count, let first = free[family]?.first {
                let part = first.prefix(count - found.count)
                found += part
                if part.upperBound == first.upperBound { free[family]?.removeFirst() } else { free[family]?[0] = part.upperBound..<first.upperBound }
            }
            return found
        }
    }
}
