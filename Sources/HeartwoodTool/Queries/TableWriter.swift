import Foundation
import Heartwood

/// Writes an aligned table: numbers to the right, the rest to the left.
///
/// The first rows set the widths of the columns. A wider value later moves the text after it, or is cut if the table has a width.
final class TableWriter: RowWriter {
    private struct Cell {
        let text: String
        let isNumber: Bool
    }

    private static let rowsAhead = 1000
    /// The least width of a column that is cut.
    private static let narrowest = 6

    private let output = OutputBuffer()
    private let names: [String]
    private let width: Int?
    private let excerpt: Excerpt
    private var ahead: [[Cell]] = []
    private var widths: [Int] = []

    /// - Parameters:
    ///   - width: cuts lines to this number of columns; nil cuts no line.
    ///   - excerpt: cuts values.
    init(_ names: [String], width: Int?, _ excerpt: Excerpt) {
        self.names = names.map(DisplayWidth.printable)
        (self.width, self.excerpt) = (width, excerpt)
    }

    func row(_ cells: UnsafeBufferPointer<RowCell>) throws {
        let cells = cells.map { cell in
            Cell(text: DisplayWidth.printable(cell.json.map { excerpt.text(AttributeText.text($0)) } ?? ""), isNumber: cell.isNumber)
        }
        guard widths.isEmpty else { return try write(cells) }
        ahead.append(cells)
        if ahead.count == Self.rowsAhead { try begin() }
    }

    func finish() throws {
        if widths.isEmpty { try begin() }
        try output.flush()
    }

    private func begin() throws {
        widths = names.indices.map { column in
            ahead.reduce(DisplayWidth.of(names[column])) { max($0, DisplayWidth.of($1[column].text)) }
        }
        if let width { shrink(to: width) }
        try write(names.enumerated().map { column, name in Cell(text: name, isNumber: ahead.contains { $0[column].isNumber }) })
        try write(widths.map { Cell(text: String(repeating: "-", count: $0), isNumber: false) })
        for cells in ahead { try write(cells) }
        ahead = []
    }

    /// Takes the excess from the widest columns.
    private func shrink(to width: Int) {
        var excess = widths.reduce(2 * (widths.count - 1), +) - width
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.narrowest {
            widths[widest] -= 1
            excess -= 1
        }
    }

    private func write(_ cells: [Cell]) throws {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let text = width == nil ? cell.text : DisplayWidth.cut(cell.text, to: widths[column])
            let space = String(repeating: " ", count: max(0, widths[column] - DisplayWidth.of(text)))
            line += (column == 0 ? "" : "  ") + (cell.isNumber ? space + text : text + space)
        }
        while line.last == " " { line.removeLast() }
        try output.append((width.map { DisplayWidth.cut(line, to: $0) } ?? line) + "\n")
    }
}
