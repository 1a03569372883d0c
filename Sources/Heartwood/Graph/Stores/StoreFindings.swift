/// Findings of one kind about a store: their number, and the first ones in words.
package struct StoreFindings: Equatable, Sendable {
    package static let linesMax = 20

    package private(set) var count = 0
    package private(set) var lines: [String] = []

    package mutating func add(_ line: @autoclosure () -> String) {
        count += 1
        if lines.count < Self.linesMax { lines.append(line()) }
    }

    /// - Parameter lines: the first findings.
    package init(count: Int, lines: [String]) {
        self.count = count
        self.lines = Array(lines.prefix(Self.linesMax))
    }

    package init() {}
}
