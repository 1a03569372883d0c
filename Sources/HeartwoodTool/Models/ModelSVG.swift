import Foundation
import Heartwood

/// A model's diagram as SVG.
struct ModelSVG {
    private var parts: [String] = []
    private let layout: ModelLayout
    /// The number of lines at each side of each box; lines at one side are spread over its height.
    private var used: [Int: Int] = [:]

    static func text(_ loaded: LoadedModel) -> String {
        var drawing = ModelSVG(ModelLayout(loaded))
        return drawing.draw(title: loaded.name)
    }

    private init(_ layout: ModelLayout) {
        self.layout = layout
    }

    private mutating func draw(title: String) -> String {
        let width = Self.number(layout.width), height = Self.number(layout.height)
        parts.append(
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            font-family="Menlo, Consolas, monospace" font-size="12">
            <title>\(Self.escape(title))</title>
            <defs><marker id="is" viewBox="0 0 12 12" refX="11" refY="6" markerWidth="12" markerHeight="12" orient="auto-start-reverse">\
            <path d="M1 1 L11 6 L1 11 Z" fill="#ffffff" stroke="#8a5a00"/></marker></defs>
            <rect width="100%" height="100%" fill="#ffffff"/>
            """)
        for line in layout.lines { draw(line) }
        for box in layout.boxes { draw(box) }
        parts.append("</svg>")
        return parts.joined(separator: "\n")
    }

    // MARK: Boxes

    private mutating func draw(_ box: ModelLayout.Box) {
        let x = box.x, y = box.y
        let head = box.entity.isAbstract ? "#7a7a7a" : "#2f5d8a"
        parts.append(rectangle(x, y, box.width, box.height, "fill=\"#f7f9fb\" stroke=\"\(head)\" rx=\"5\""))
        let across = Self.number(box.width - 10), down = Self.number(ModelLayout.headHeight - 5)
        parts.append(
            "<path d=\"M\(point(x, y + 5)) q0 -5 5 -5 h\(across) q5 0 5 5 v\(down) h\(Self.number(-box.width)) Z\" fill=\"\(head)\"/>")
        let style = "fill=\"#ffffff\" font-weight=\"bold\"" + (box.entity.isAbstract ? " font-style=\"italic\"" : "")
        text(box.entity.title, x + box.width / 2, y + 19, style + " text-anchor=\"middle\"")
        for (index, row) in box.rows.enumerated() {
            text(row, x + 10, y + ModelLayout.headHeight + Double(index) * ModelLayout.rowHeight + 16, "fill=\"#222222\"")
        }
    }

    // MARK: Lines

    private mutating func draw(_ line: ModelLayout.Line) {
        let from = layout.boxes[line.from], to = layout.boxes[line.to]
        guard line.from != line.to else { return drawLoop(line, from) }
        let isRight = (line.points.first?.x ?? to.x + to.width / 2) >= from.x + from.width / 2
        let isRightAtEnd = to.x + to.width / 2 >= (line.points.last?.x ?? from.x + from.width / 2)
        let start = (x: isRight ? from.x + from.width : from.x, y: height(line.from, isRight))
        let end = (x: isRightAtEnd ? to.x : to.x + to.width, y: height(line.to, !isRightAtEnd))
        var path = "M\(point(start.x, start.y))", last = start
        for next in line.points + [end] {
            let bend = (next.x - last.x) / 2
            path += " C\(point(last.x + bend, last.y)) \(point(next.x - bend, next.y)) \(point(next.x, next.y))"
            last = next
        }
        guard let relationship = line.relationship else {
            parts.append("<path d=\"\(path)\" fill=\"none\" stroke=\"#8a5a00\" stroke-dasharray=\"5 3\" marker-start=\"url(#is)\"/>")
            return
        }
        parts.append("<path d=\"\(path)\" fill=\"none\" stroke=\"#66788a\" stroke-width=\"1.3\"/>")
        label(ending: relationship, end.x, end.y, isLeft: isRightAtEnd)
        if let inverse = relationship.inverseRelationship { label(ending: inverse, start.x, start.y, isLeft: !isRight) }
    }

    private mutating func drawLoop(_ line: ModelLayout.Line, _ box: ModelLayout.Box) {
        let x = box.x + box.width, y = height(line.from, true)
        let path = "M\(point(x, y)) C\(point(x + 55, y - 8)) \(point(x + 55, y + 30)) \(point(x, y + 22))"
        if let relationship = line.relationship {
            parts.append("<path d=\"\(path)\" fill=\"none\" stroke=\"#66788a\" stroke-width=\"1.3\"/>")
            label(ending: relationship, x, y + 22, isLeft: false)
            if let inverse = relationship.inverseRelationship, inverse !== relationship { label(ending: inverse, x, y, isLeft: false) }
        }
    }

    /// A height at one side of a box that no line has taken.
    private mutating func height(_ box: Int, _ isRight: Bool) -> Double {
        let side = box * 2 + (isRight ? 1 : 0)
        let count = used[side, default: 0]
        used[side] = count + 1
        let room = max(layout.boxes[box].height - 20, 1)
        return layout.boxes[box].y + 14 + (Double(count) * 15).truncatingRemainder(dividingBy: room)
    }

    /// Writes the relationship's name and multiplicity at the box where the line ends.
    private mutating func label(ending relationship: NSRelationshipDescription, _ x: Double, _ y: Double, isLeft: Bool) {
        let name = "\(relationship.name) \(relationship.multiplicity)"
        text(name, x + (isLeft ? -4 : 4), y - 3, "fill=\"#41566b\" font-size=\"10\" text-anchor=\"\(isLeft ? "end" : "start")\"")
    }

    // MARK: Text

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String) -> String {
        "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" height=\"\(Self.number(height))\" \(style)/>"
    }

    private mutating func text(_ text: String, _ x: Double, _ y: Double, _ style: String) {
        parts.append("<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" \(style)>\(Self.escape(text))</text>")
    }

    private func point(_ x: Double, _ y: Double) -> String { "\(Self.number(x)) \(Self.number(y))" }

    private static func number(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    private static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
