@testable import RecordLog

/// An index of a sample store with several terms a row: the pairs of neighbouring bytes in its name.
extension SampleStore {
    static let pairsName = "pairs", pairsExtractor = "terms:pairs"
    static let extractors: [String: any IndexKeyExtractor] = [pairsExtractor: PairTerms()]

    private struct PairTerms: IndexTermExtractor {
        var columnNames: [String]? { ["name"] }

        func appendTerms(of row: UnsafeRowView, layout: RowLayout, to terms: TermList) {
            guard let position = layout.columns.firstIndex(where: { $0.name == "name" }), !row.isNull(layout.access[position]) else { return }
            for pair in SampleStore.pairs(row.bytes(layout.access[position])) { pair.withUnsafeBytes { terms.append($0) } }
        }
    }

    private static func pairs(_ text: some Collection<UInt8>) -> Set<[UInt8]> {
        // Many entries of one row would make each check slow. No byte of a term is 0.
        let text = text.prefix(40).map { max($0, 1) }
        return Set(text.indices.dropLast().map { Array(text[$0...$0 + 1]) })
    }

    static func definePairs(on table: TableDefinition, _ transaction: Transaction) throws {
        _ = try transaction.defineIndex(named: pairsName, on: table.id, parts: [], extractorName: pairsExtractor)
    }

    /// The first difference between the index, if there is one, and the people's names.
    func pairsMismatch(_ snapshot: Snapshot, _ people: [UInt64: Person]) throws -> String? {
        guard let index = snapshot.catalog.indexes(on: table.id).first(where: { $0.name == Self.pairsName })?.id else { return nil }
        var wanted: [(term: [UInt8], row: UInt64)] = []
        for (row, person) in people { wanted += Self.pairs((person.name ?? "").utf8).map { ($0, row) } }
        wanted.sort { $0.term == $1.term ? $0.row < $1.row : $0.term.lexicographicallyPrecedes($1.term) }
        let order = wanted.map(\.row)
        if try rows(snapshot, index) != order { return "the index of terms is wrong" }
        if try rows(snapshot, index, descending: true) != order.reversed() { return "the index of terms is wrong backwards" }
        if try snapshot.count(index, .all) != order.count { return "the index of terms counts wrongly" }
        guard let term = wanted.first?.term else { return nil }
        let known = wanted.prefix { $0.term == term }.map(\.row)
        return try rows(snapshot, index, .prefix(term + [0])) == known ? nil : "a term's rows are wrong"
    }
}
