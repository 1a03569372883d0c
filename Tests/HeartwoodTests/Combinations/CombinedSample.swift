import Foundation

@testable import Heartwood

/// A table's columns, and the cases that go through every way of writing.
struct CombinedSample {
    struct Column {
        let name: String
        let kind: AttributeKind
        var isOptional = true
        /// Different from every state's value, so that an unset column is detected.
        var defaultValue: Any?
        /// The prefix of its values: the name that the column had before a migration.
        let origin: String
        /// The value and its text by state, with the number 0.
        private let values: [(value: Any?, plain: String)]

        init(_ name: String, _ kind: AttributeKind, isOptional: Bool = true, default defaultValue: Any? = nil, origin: String? = nil) {
            (self.name, self.kind, self.isOptional, self.defaultValue, self.origin) = (name, kind, isOptional, defaultValue, origin ?? name)
            values = ValueState.allCases.map { state in
                let value = state == .initial ? defaultValue : kind.value(state, origin ?? name, 0)
                return (value, kind.plain(value))
            }
        }

        /// - Parameter number: the case's number, which ends unique values.
        func value(_ state: ValueState, _ number: Int) -> Any? {
            kind == .code && state != .initial ? kind.value(state, origin, number) : values[state.rawValue].value
        }

        /// The text by which a value is compared.
        func plain(_ state: ValueState, _ number: Int) -> String {
            kind == .code ? kind.plain(value(state, number)) : values[state.rawValue].plain
        }
    }

    /// The number of cases. The few have no huge values; all are for the long form.
    enum Extent { case few, many, all }

    let name: String
    var columns: [Column]
    /// The column whose text a derived attribute has in lower case; nil for none.
    var derivedFrom: String?
    var cases: [CombinedCase]
    /// The same columns without indexes, and with an index for each.
    var entities = ["Plain", "Indexed"]

    /// HEARTWOOD_COMBINATIONS=long in the environment adds states.
    static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_COMBINATIONS"] == "long"

    // MARK: Samples

    /// Texts between columns of fixed sizes. Four of the texts are kept, cleared and changed in all combinations.
    static func texts(_ extent: Extent) -> CombinedSample {
        let columns = [
            Column("a", .string), Column("b", .string), Column("b2", .integer32, isOptional: false, default: 77), Column("c", .string),
            Column("c2", .double), Column("d", .string, default: "default"), Column("code", .code), Column("one", .reference),
        ]
        let positions = [0, 1, 3, 5]
        var cases: [CombinedCase] = []
        func add(_ before: [ValueState], _ changes: [ValueState?]) {
            let turn = cases.count
            var whole: [ValueState] = Array(repeating: .short, count: 8), changed: [ValueState?] = Array(repeating: nil, count: 8)
            for (index, column) in positions.enumerated() { (whole[column], changed[column]) = (before[index], changes[index]) }
            // The others alternate in cycles of other lengths, so that they meet in many combinations too.
            whole[6] = [.short, .absent, .long][turn / 2 % 3]
            whole[7] = [.short, .absent][turn / 3 % 2]
            changed[2] = [nil, .other][turn % 2]
            changed[4] = [nil, .absent, .other][turn % 3]
            changed[6] = [nil, .other, nil, .absent, .short][turn % 5]
            changed[7] = [nil, .absent, .other, .short][turn % 4]
            cases.append(CombinedCase(before: whole, changes: changed))
        }
        func product(_ options: [ValueState?], _ body: ([ValueState?]) -> Void) {
            for first in options {
                for second in options {
                    for third in options { for fourth in options { body([first, second, third, fourth]) } }
                }
            }
        }
        let short: [ValueState] = [.short, .short, .short, .short], mixed: [ValueState] = [.long, .short, .empty, .long]
        let nothing: [ValueState] = [.absent, .absent, .absent, .absent]
        if extent == .all {
            for before in [short, mixed, nothing, [.short, .absent, .long, .short]] {
                product([nil, .short, .absent, .empty, .other, .long]) { add(before, $0) }
            }
        } else if extent == .many {
            for before in [short, nothing] { product([nil, .absent, .other]) { add(before, $0) } }
            product([nil, .absent]) { add(mixed, $0) }
            product([.short, .absent]) { add(short, $0) }
            product([.empty, .long]) { add(short, $0) }
        } else {
            product([nil, .absent]) { add(short, $0) }
            product([.absent, .other]) { add(mixed, $0) }
        }
        for index in extent == .all ? [0, 1, 2, 3] : extent == .many ? [1] : [] {
            var before = short
            before[index] = .huge
            product([nil, .absent]) { add(before, $0) }
            var changes: [ValueState?] = [.absent, nil, nil, .absent]
            changes[index] = .huge
            add(short, changes)
        }
        return CombinedSample(name: "texts", columns: columns, derivedFrom: "a", cases: cases)
    }

    /// Every type beside the others. Each column takes each state, each pair of columns is cleared and set, and then all at once.
    static func types(_ extent: Extent) -> CombinedSample {
        let columns = AttributeKind.allCases.map { kind in
            Column(kind.rawValue, kind, default: kind == .integer32 ? 77 : kind == .string ? "default" : nil)
        } + [Column("text", .string)]
        var cases: [CombinedCase] = []
        func add(_ before: ValueState, _ changes: [Int: ValueState]) {
            cases.append(CombinedCase(before: Array(repeating: before, count: columns.count), changes: columns.indices.map { changes[$0] }))
        }
        for first in columns.indices {
            for second in (first + 1)..<max(columns.count, first + 1) where extent != .few || second == first + 1 {
                let isNeighbour = second == first + 1
                if extent == .all || isNeighbour || (first + second) % 2 == 0 { add(.short, [first: .absent, second: .absent]) }
                if extent == .all || isNeighbour || (first + second) % 2 == 1 { add(.absent, [first: .other, second: .other]) }
                if extent == .all {
                    add(.short, [first: .absent, second: .long])
                    add(.long, [first: .absent, second: .other])
                }
            }
            for state in ValueState.settable where extent != .few && (state != .huge || extent == .all || first % 3 == 2) {
                add(.short, [first: state])
            }
        }
        for state in ValueState.settable where extent != .few || state != .huge {
            let all = Dictionary(uniqueKeysWithValues: columns.indices.map { ($0, state) })
            for before in Set([ValueState.short, .absent, state]).sorted(by: { $0.rawValue < $1.rawValue }) { add(before, all) }
            add(state, all.mapValues { _ in .absent })
        }
        return CombinedSample(name: "types", columns: columns, derivedFrom: nil, cases: cases)
    }

    /// Keeps every third case.
    mutating func thinOut(_ turn: Int) { cases = cases.enumerated().filter { $0.offset % 3 == turn % 3 }.map(\.element) }

    /// The states of a column in all cases.
    func states(of column: Int) -> [ValueState] {
        let all = Set(cases.flatMap { [$0.before[column], $0.changes[column] ?? $0.before[column]] })
        return all.union([.initial, .absent]).sorted { $0.rawValue < $1.rawValue }
    }
}
