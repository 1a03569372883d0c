import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Searches a root's separators with its guide, beside a search that compares them all.
@Suite struct IndexRootTests {
    private func run(_ separators: [[UInt8]]) -> SortedRun {
        var blocks = IndexRootBuilder()
        for (number, separator) in ([[]] + separators).enumerated() {
            blocks.append(FrameTicket(number: number), separator: separator, entryCount: 1)
        }
        let root = FramePointer(offset: UInt64(separators.count + 2) * 64, checksum: 1)
        let bytes = blocks.encode { FramePointer(offset: UInt64($0.number + 1) * 64, checksum: 1) }
        return SortedRun(manifest: Manifest.Run(root: root, entryCount: 1, byteCount: 1), source: FixedPayload(bytes))
    }

    private func key(_ random: inout SeededGenerator, _ alphabet: Int, _ most: Int) -> [UInt8] {
        (0..<Int.random(in: 1...most, using: &random)).map { _ in UInt8.random(in: 0..<UInt8(alphabet), using: &random) }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `A guided search agrees with the order of the separators`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Few letters give many common beginnings, and more entries of one word than the distance between samples.
        let alphabet = [1, 2, 3, 200][Int(seed % 4)], most = [3, 12, 30][Int(seed % 3)]
        let head = [UInt8](repeating: 9, count: Int(seed % 5) * 4)
        var separators: Set<[UInt8]> = []
        for _ in 0..<Int.random(in: 1...2000, using: &random) { separators.insert(head + key(&random, alphabet, most)) }
        let sorted = separators.sorted { $0.precedes($1) }
        let run = run(sorted), root = try run.blocks()
        #expect(root.count == sorted.count + 1)
        for _ in 0..<500 {
            let wanted = Bool.random(using: &random)
                ? sorted.randomElement(using: &random) ?? [] : (Bool.random(using: &random) ? head : []) + key(&random, alphabet + 2, most + 2)
            let found = wanted.withUnsafeBytes { root.block(for: $0) }
            #expect(found == wanted.rank(in: sorted), "seed \(seed): \(wanted)")
        }
    }

    /// Such roots come from files made by an attacker.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A search of unordered separators stays among them`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let run = run((0..<Int.random(in: 1...500, using: &random)).map { _ in key(&random, 200, 12) }), root = try run.blocks()
        for _ in 0..<200 {
            let wanted = key(&random, 200, 12)
            #expect((0..<root.count).contains(wanted.withUnsafeBytes { root.block(for: $0) }), "seed \(seed)")
        }
    }

    @Test
    func `A root is made once although many threads ask for it`() async throws {
        let run = run((1...5000).map { [UInt8($0 / 256), UInt8($0 % 256)] })
        let found = try await withThrowingTaskGroup(of: UInt.self) { group in
            for _ in 0..<8 { group.addTask { UInt(bitPattern: try run.blocks().guide.common?.baseAddress) } }
            return try await group.reduce(into: Set<UInt>()) { $0.insert($1) }
        }
        #expect(found.count == 1)
    }
}
