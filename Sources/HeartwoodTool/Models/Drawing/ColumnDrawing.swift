/// A drawing of boxes in columns, with the lines between their rows.
///
/// All boxes of a column are equally wide, and a line that passes a column has a place of its own in it. So a line is curved between two columns
/// only, and never runs over a box. The steps are those of a layered drawing: `ColumnChoice` gives each box a column, `ColumnOrder` an order in it
/// that crosses few lines, and `ColumnHeights` the heights.
/// Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures", 1981
struct ColumnDrawing {
    /// A box with rows at which lines end. The rows may be put in any order.
    struct Box {
        var width: Double
        /// The height above the rows.
        var top: Double
        var rows: Int
        /// The height below the rows.
        var bottom: Double

        var height: Double { top + Double(rows) * ColumnDrawing.rowHeight + bottom }
    }

    struct End {
        var box: Int
        /// nil for the box's head.
        var row: Int?
    }

    struct Line {
        var from: End
        var to: End
    }

    struct Point: Equatable {
        var x: Double
        var y: Double
    }

    /// The way of a line.
    enum Route: Equatable {
        /// Through points. Between two of one height it is straight; else it is a curve that begins and ends level.
        case through([Point])
        /// Between two points at the right of one column, around as much space as `reach`.
        case around(Point, Point, reach: Double)
    }

    static let rowHeight = 18.0
    static let headHeight = 28.0

    let boxes: [Box]
    let lines: [Line]
    /// By box.
    private(set) var places: [Point] = []
    private(set) var widths: [Double] = []
    /// By box: the rows in their order.
    private(set) var rowOrder: [[Int]] = []
    private(set) var routes: [Route] = []
    private(set) var width = 0.0
    private(set) var height = 0.0

    /// - Parameter columnsMax: the most columns.
    init(_ boxes: [Box], _ lines: [Line], columnsMax: Int) {
        (self.boxes, self.lines) = (boxes, lines)
        let columns = ColumnChoice(boxes, lines, columnsMax: columnsMax).columns
        var order = ColumnOrder(boxes, lines, columns)
        order.run()
        rowOrder = order.rowOrder
        place(order)
    }

    private mutating func place(_ order: ColumnOrder) {
        let count = order.columns.count
        let columnWidths = order.columns.map { column in column.compactMap { order.items[$0].box.map { boxes[$0].width } }.max() ?? 0 }
        var lefts: [Double] = [], x = 0.0
        for index in 0..<count {
            lefts.append(x)
            x += columnWidths[index] + gap(behind: index, order)
        }
        let top = order.items.map(\.y).min() ?? 0
        places = boxes.indices.map { Point(x: lefts[order.column(ofBox: $0)], y: order.items[$0].y - top) }
        widths = boxes.indices.map { columnWidths[order.column(ofBox: $0)] }
        routes = lines.indices.map { route($0, order, lefts, columnWidths, top) }
        let bottom = order.items.map { $0.y + $0.height }.max() ?? 0
        height = bottom - top
        let reach = routes.map { if case .around(let start, _, let reach) = $0 { start.x + reach } else { 0.0 } }.max() ?? 0
        width = max((lefts.last ?? 0) + (columnWidths.last ?? 0), reach)
    }

    /// The space between a column and the next one: more for more lines.
    private func gap(behind column: Int, _ order: ColumnOrder) -> Double {
        let crossing = order.segments.count { min(order.items[$0.from.item].column, order.items[$0.to.item].column) == column }
        let loops = lines.count { order.column(ofBox: $0.from.box) == column && order.column(ofBox: $0.to.box) == column }
        return min(100, 54 + 3 * Double(crossing) + 8 * Double(loops))
    }

    private func route(_ index: Int, _ order: ColumnOrder, _ lefts: [Double], _ columnWidths: [Double], _ top: Double) -> Route {
        let line = lines[index]
        let a = order.column(ofBox: line.from.box), b = order.column(ofBox: line.to.box)
        let start = order.height(of: line.from) - top, end = order.height(of: line.to) - top
        guard a != b else {
            let x = lefts[a] + columnWidths[a], reach = min(48, 18 + abs(end - start) * 0.12)
            return .around(Point(x: x, y: start), Point(x: x, y: end), reach: reach)
        }
        let isRight = a < b
        var points = [Point(x: isRight ? lefts[a] + columnWidths[a] : lefts[a], y: start)]
        for item in order.passing[index] {
            let y = order.items[item].y - top + order.items[item].height / 2, column = order.items[item].column
            let edges = [lefts[column], lefts[column] + columnWidths[column]]
            points += (isRight ? edges : edges.reversed()).map { Point(x: $0, y: y) }
        }
        return .through(points + [Point(x: isRight ? lefts[b] : lefts[b] + columnWidths[b], y: end)])
    }
}
