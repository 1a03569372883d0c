import Foundation

/// Formats the measurements as a table, Markdown, JSON and a chart.
struct Reports {
    let measurements: [Measurement]

    let peers: [String]

    private struct Row {
        let workload: String
        let unit: String
        let rows: Int
        let values: [Double?]

        /// The peer's figure divided by Heartwood's.
        func ratio(_ index: Int) -> Double? {
            guard index > 0, let own = values[0], own > 0, let other = values[index] else { return nil }
            return other / own
        }
    }

    private var table: [Row] {
        var keys: [(String, Int)] = []
        for measurement in measurements where !keys.contains(where: { $0 == (measurement.workload, measurement.rows) }) {
            keys.append((measurement.workload, measurement.rows))
        }
        return keys.map { workload, rows in
            let own = measurements.filter { $0.workload == workload && $0.rows == rows }
            return Row(workload: workload, unit: own.first?.unit ?? "", rows: rows, values: peers.map { peer in own.first { $0.peer == peer }?.value })
        }
    }

    private static func number(_ value: Double?) -> String {
        guard let value else { return "-" }
        switch abs(value) {
        case ..<10: return String(format: "%.2f", value)
        case ..<1000: return String(format: "%.1f", value)
        default: return String(format: "%.0f", value)
        }
    }

    private func cell(_ row: Row, _ index: Int) -> String {
        let text = Self.number(row.values[index])
        return row.ratio(index).map { "\(text) (\(Self.number($0))×)" } ?? text
    }

    var text: String {
        var lines: [String] = []
        for rows in Set(table.map(\.rows)).sorted() {
            lines.append("\n\(rows) persons; in brackets the peer's figure over Heartwood's")
            lines.append(pad("", 34) + peers.map { pad($0, 22) }.joined())
            for row in table where row.rows == rows {
                lines.append(pad("\(row.workload), \(row.unit)", 34) + peers.indices.map { pad(cell(row, $0), 22) }.joined())
            }
        }
        return lines.joined(separator: "\n")
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    var markdown: String {
        var lines: [String] = []
        for rows in Set(table.map(\.rows)).sorted() {
            lines.append("### \(rows) persons\n")
            lines.append("| workload | " + peers.joined(separator: " | ") + " |")
            lines.append("|---|" + peers.map { _ in "---:|" }.joined())
            for row in table where row.rows == rows {
                lines.append("| \(row.workload), \(row.unit) | " + peers.indices.map { cell(row, $0) }.joined(separator: " | ") + " |")
            }
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(measurements)
    }

    /// Bars of the ratios at the largest size, on a logarithmic scale: Heartwood is better to the right of the line.
    var svg: String {
        guard let rows = table.map(\.rows).max() else { return "" }
        let chosen = table.filter { $0.rows == rows }
        let shown = [1, 2], colors = ["#2a6f97", "#e07a5f"]
        let rowHeight = 30, left = 230, width = 560
        let height = 70 + chosen.count * rowHeight
        func x(_ ratio: Double) -> Double { Double(left) + (log10(min(max(ratio, 0.1), 1000)) + 1) / 4 * Double(width) }
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(left + width + 80)\" height=\"\(height)\" font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            "<text x=\"10\" y=\"20\" font-size=\"14\">\(rows) persons: the peer's figure over Heartwood's (more than 1: Heartwood is better)</text>",
        ]
        for (place, index) in shown.enumerated() {
            parts.append("<rect x=\"\(left + place * 150)\" y=\"30\" width=\"12\" height=\"12\" fill=\"\(colors[place])\"/>")
            parts.append("<text x=\"\(left + place * 150 + 18)\" y=\"41\">\(peers[index])</text>")
        }
        for mark in [0.1, 1, 10, 100, 1000] {
            let place = x(mark)
            parts.append("<line x1=\"\(place)\" y1=\"52\" x2=\"\(place)\" y2=\"\(height - 10)\" stroke=\"\(mark == 1 ? "#333" : "#ddd")\"/>")
            parts.append("<text x=\"\(place)\" y=\"\(height - 1)\" text-anchor=\"middle\" fill=\"#666\">\(mark >= 1 ? "\(Int(mark))" : "0.1")×</text>")
        }
        for (line, row) in chosen.enumerated() {
            let top = 56 + line * rowHeight
            parts.append("<text x=\"\(left - 10)\" y=\"\(top + 16)\" text-anchor=\"end\">\(row.workload)</text>")
            for (place, index) in shown.enumerated() {
                guard let ratio = row.ratio(index) else { continue }
                let from = min(x(1), x(ratio)), to = max(x(1), x(ratio))
                let y = top + place * 12
                parts.append("<rect x=\"\(from)\" y=\"\(y)\" width=\"\(max(1, to - from))\" height=\"10\" fill=\"\(colors[place])\"/>")
                parts.append("<text x=\"\(to + 4)\" y=\"\(y + 9)\" font-size=\"10\">\(Self.number(ratio))</text>")
            }
        }
        parts.append("</svg>")
        return parts.joined(separator: "\n")
    }
}
