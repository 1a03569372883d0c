import Testing

/// Collects differences; the first ones are shown, the others counted.
struct Differences {
    private var lines: [String] = []
    private var count = 0
    private(set) var compared = 0

    mutating func add(_ line: String) {
        count += 1
        if lines.count < 4 { lines.append(line) }
    }

    mutating func expect(_ expected: String, _ found: String, _ location: () -> String) {
        compared += 1
        if expected != found { add("\(location()): expected \(expected), found \(found)") }
    }

    func report() {
        if count > 0 { Issue.record("\(count) differences\n\(lines.joined(separator: "\n"))") }
    }
}
