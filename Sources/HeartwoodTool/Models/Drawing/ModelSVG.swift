import Foundation
import Heartwood

/// A model's diagram as SVG: a file of its own, or a part of a page.
struct ModelSVG {
    /// The page's addresses to which a diagram leads.
    struct Links {
        let rows: (NSEntityDescription) -> String
        let entity: (NSEntityDescription) -> String
    }

    private var parts: [String] = []
    private let layout: ModelLayout
    private let links: Links?

    /// A file of its own.
    static func text(_ loaded: LoadedModel) -> String {
        var drawing = ModelSVG(ModelLayout(loaded), nil)
        return drawing.draw(title: loaded.name, style: style { colours[$0] ?? $0 })
    }

    /// A part of a page, whose style sheet has `style` and the colours.
    static func part(_ layout: ModelLayout, title: String, links: Links) -> String {
        var drawing = ModelSVG(layout, links)
        return drawing.draw(title: title, style: nil)
    }

    private init(_ layout: ModelLayout, _ links: Links?) {
        self.layout = layout
        self.links = links
    }

    // MARK: Style

    private static let colours = [
        "paper": "#ffffff", "panel": "#f6f7f9", "ink": "#1c2430", "muted": "#5c6675", "rule": "#c9cfd8", "line": "#77828f", "accent": "#1f5fa8",
    ]

    /// The rules of a style sheet.
    /// - Parameter colour: the value of a colour by its name.
    static func style(_ colour: (String) -> String) -> String {
        """
        .hw-model { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .hw-model text { fill: \(colour("ink")); white-space: pre; }
        .hw-model .hw-title { font-weight: 600; }
        .hw-model .hw-abstract .hw-title { font-style: italic; font-weight: 400; }
        .hw-model text.hw-note { fill: \(colour("muted")); text-anchor: end; }
        .hw-model .hw-box { fill: \(colour("paper")); stroke: \(colour("rule")); }
        .hw-model .hw-head { fill: \(colour("panel")); }
        .hw-model .hw-rule { stroke: \(colour("rule")); fill: none; }
        .hw-model .hw-line { stroke: \(colour("line")); fill: none; stroke-width: 1.3; }
        .hw-model .hw-is { stroke: \(colour("accent")); stroke-dasharray: 5 3; }
        .hw-model .hw-end { stroke: \(colour("line")); fill: none; stroke-width: 1.3; }
        .hw-model .hw-parent { stroke: \(colour("accent")); fill: \(colour("paper")); stroke-width: 1.3; }
        """
    }

    private mutating func draw(title: String, style: String?) -> String {
        let width = Self.number(layout.width), height = Self.number(layout.height)
        parts.append(
            """
            <svg xmlns="http://www.w3.org/2000/svg" class="hw-model" role="\(links == nil ? "img" : "group")" aria-label="\(Self.escape(title))" \
            width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)">
            """)
        if let style {
            parts.append("<title>\(Self.escape(title))</title>\n<style>\n\(style)\n</style>")
            parts.append("<rect width=\"100%\" height=\"100%\" fill=\"\(Self.colours["paper"] ?? "white")\"/>")
        }
        for line in layout.lines { draw(line) }
        for (index, box) in layout.boxes.enumerated() { draw(box, index) }
        parts.append("</svg>")
        return parts.joined(separator: "\n")
    }

    // MARK: Boxes

    private mutating func draw(_ box: ModelLayout.Box, _ index: Int) {
        let x = box.x, y = box.y
        let name = Self.escape(box.entity.title)
        parts.append("<g class=\"hw-entity\(box.entity.isAbstract ? " hw-abstract" : "")\" data-box=\"\(index)\" data-entity=\"\(name)\">")
        let across = Self.number(box.width - 10), down = Self.number(ModelLayout.headHeight - 5)
        parts.append(
            "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(box.width))\" height=\"\(Self.number(box.height))\" "
                + "class=\"hw-box\" rx=\"5\"/>")
        let head = "<path d=\"M\(Self.point(x, y + 5)) q0 -5 5 -5 h\(across) q5 0 5 5 v\(down) h\(Self.number(-box.width)) Z\" class=\"hw-head\"/>"
        link(links?.rows(box.entity), [head, text(box.title, x + ModelLayout.inset, y + 18.5, "hw-title")])
        rule(box, y + ModelLayout.headHeight)
        var top = y + ModelLayout.headHeight + 5
        for row in box.attributes {
            parts += self.row(row.name, row.note, box, top)
            top += ModelLayout.rowHeight
        }
        if box.hidden > 0 { parts += row("… \(Output.number(box.hidden)) more", "", box, top) }
        top = y + box.top
        if !box.attributes.isEmpty, !box.relationships.isEmpty { rule(box, top - 2.5) }
        for relationship in box.relationships {
            let row = row(relationship.row.name, relationship.row.note, box, top)
            link(relationship.description.destinationEntity.flatMap { links?.entity($0) }, row)
            top += ModelLayout.rowHeight
        }
        parts.append("</g>")
    }

    private mutating func rule(_ box: ModelLayout.Box, _ y: Double) {
        parts.append("<path d=\"M\(Self.point(box.x, y)) h\(Self.number(box.width))\" class=\"hw-rule\"/>")
    }

    private func row(_ name: String, _ note: String, _ box: ModelLayout.Box, _ top: Double) -> [String] {
        let right = box.x + box.width - ModelLayout.inset
        return [text(name, box.x + ModelLayout.inset, top + 13, nil)] + (note.isEmpty ? [] : [text(note, right, top + 13, "hw-note")])
    }

    private mutating func link(_ address: String?, _ inner: [String]) {
        guard let address else { return parts += inner }
        parts += ["<a href=\"\(Self.escape(address))\">"] + inner + ["</a>"]
    }

    // MARK: Lines

    private mutating func draw(_ line: ModelLayout.Line) {
        let (path, start, end) = Self.path(line.route)
        var style = "hw-line", ends: [String] = []
        switch line.kind {
        case .relationship(let relationship):
            ends.append(Self.end(end, isMany: relationship.isToMany))
            if let inverse = relationship.inverseRelationship { ends.append(Self.end(start, isMany: inverse.isToMany)) }
        case .inheritance:
            style += " hw-is"
            let tip = start.point, x = tip.x + start.outward * 11
            ends.append("<path d=\"M\(Self.point(tip.x, tip.y)) L\(Self.point(x, tip.y - 5)) V\(Self.number(tip.y + 5)) Z\" class=\"hw-parent\"/>")
        case .relationships: break
        }
        parts.append("<g data-from=\"\(line.from)\" data-to=\"\(line.to)\"><path d=\"\(path)\" class=\"\(style)\"/>")
        parts += ends + ["</g>"]
    }

    /// Where a line leaves a box, and the direction: 1 to the right, -1 to the left.
    private typealias End = (point: ColumnDrawing.Point, outward: Double)

    private static func path(_ route: ColumnDrawing.Route) -> (String, start: End, end: End) {
        switch route {
        case .around(let from, let to, let reach):
            // A relationship that is its own inverse has one row.
            let shift = from == to ? 5.0 : 0, x = from.x + reach * 4 / 3
            let path = "M\(point(from.x, from.y - shift)) C\(point(x, from.y - shift)) \(point(x, to.y + shift)) \(point(to.x, to.y + shift))"
            return (path, (ColumnDrawing.Point(x: from.x, y: from.y - shift), 1), (ColumnDrawing.Point(x: to.x, y: to.y + shift), 1))
        case .through(let points):
            guard let first = points.first, let last = points.last else {
                let nowhere = (point: ColumnDrawing.Point(x: 0, y: 0), outward: 1.0)
                return ("", nowhere, nowhere)
            }
            var path = "M\(point(first.x, first.y))", before = first
            for next in points.dropFirst() {
                let bend = (next.x - before.x) / 2
                path += next.y == before.y
                    ? " H\(number(next.x))"
                    : " C\(point(before.x + bend, before.y)) \(point(next.x - bend, next.y)) \(point(next.x, next.y))"
                before = next
            }
            let direction = last.x < first.x ? -1.0 : 1.0
            return (path, (first, direction), (last, -direction))
        }
    }

    /// A crow's foot where many objects may be, a bar where one is.
    private static func end(_ end: End, isMany: Bool) -> String {
        let x = end.point.x, y = end.point.y, out = x + end.outward * (isMany ? 9 : 7)
        let path = isMany
            ? "M\(point(x, y - 5)) L\(point(out, y)) L\(point(x, y + 5))" : "M\(point(out, y - 4)) V\(number(y + 4))"
        return "<path d=\"\(path)\" class=\"hw-end\"/>"
    }

    // MARK: Text

    private func text(_ text: String, _ x: Double, _ y: Double, _ style: String?) -> String {
        let style = style.map { " class=\"\($0)\"" } ?? ""
        return "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\"\(style)>\(Self.escape(text))</text>"
    }

    private static func point(_ x: Double, _ y: Double) -> String { "\(number(x)) \(number(y))" }

    private static func number(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    /// Makes a text harmless in an element and in an attribute, of a page as of a file. Control characters are in no XML file.
    static func escape(_ text: String) -> String {
        DisplayWidth.printable(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
