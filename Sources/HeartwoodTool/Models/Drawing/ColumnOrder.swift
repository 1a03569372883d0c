/// The order of boxes in their columns, and of the rows in each box, that crosses few lines.
struct ColumnOrder {
    /// A place in a column: of a box, or of a line that passes.
    struct Item {
        let column: Int
        /// nil for a passing line.
        let box: Int?
        let height: Double
        var y = 0.0
    }

    /// A part of a line between two neighbouring columns.
    struct Segment {
        struct End {
            let item: Int
            /// The row of the item's box; nil for a box's head or a passing line.
            let row: Int?
        }

        let from: End
        let to: End
    }

    private let boxes: [ColumnDrawing.Box]
    private let lines: [ColumnDrawing.Line]
    private(set) var items: [Item]
    /// The items of each column from top to bottom.
    private(set) var columns: [[Int]]
    private(set) var segments: [Segment] = []
    /// By item: its segments.
    private var touching: [[Int]] = []
    /// By box: the lines that stay in its column.
    private var beside: [[Int]]
    /// By line: the items through which it passes.
    private(set) var passing: [[Int]] = []
    /// By box: its rows in their order, and the position of each.
    private(set) var rowOrder: [[Int]]
    private var rowPositions: [[Int]]

    init(_ boxes: [ColumnDrawing.Box], _ lines: [ColumnDrawing.Line], _ columnOfBox: [Int]) {
        (self.boxes, self.lines) = (boxes, lines)
        items = boxes.indices.map { Item(column: columnOfBox[$0], box: $0, height: boxes[$0].height) }
        rowOrder = boxes.map { Array(0..<$0.rows) }
        rowPositions = rowOrder
        beside = [[Int]](repeating: [], count: boxes.count)
        columns = [[Int]](repeating: [], count: (columnOfBox.max() ?? 0) + 1)
        for line in lines { passing.append(addSegments(of: line)) }
        for (index, item) in items.enumerated() { columns[item.column].append(index) }
        touching = [[Int]](repeating: [], count: items.count)
        for (index, segment) in segments.enumerated() {
            touching[segment.from.item].append(index)
            touching[segment.to.item].append(index)
        }
        for (index, line) in lines.enumerated() where column(ofBox: line.from.box) == column(ofBox: line.to.box) {
            beside[line.from.box].append(index)
            if line.to.box != line.from.box { beside[line.to.box].append(index) }
        }
    }

    func column(ofBox box: Int) -> Int { items[box].column }

    private mutating func addSegments(of line: ColumnDrawing.Line) -> [Int] {
        let a = column(ofBox: line.from.box), b = column(ofBox: line.to.box)
        guard a != b else { return [] }
        var last = Segment.End(item: line.from.box, row: line.from.row), way: [Int] = []
        for column in stride(from: a + (a < b ? 1 : -1), to: b, by: a < b ? 1 : -1) {
            way.append(items.count)
            items.append(Item(column: column, box: nil, height: 6))
            segments.append(Segment(from: last, to: Segment.End(item: items.count - 1, row: nil)))
            last = Segment.End(item: items.count - 1, row: nil)
        }
        segments.append(Segment(from: last, to: Segment.End(item: line.to.box, row: line.to.row)))
        return way
    }

    // MARK: Heights of ends

    func height(of end: ColumnDrawing.End) -> Double { height(Segment.End(item: end.box, row: end.row)) }

    /// Where a segment ends.
    func height(_ end: Segment.End) -> Double { items[end.item].y + offset(end) }

    /// The distance of an end from its item's top.
    func offset(_ end: Segment.End) -> Double {
        guard let box = items[end.item].box else { return items[end.item].height / 2 }
        guard let row = end.row else { return ColumnDrawing.headHeight / 2 }
        return boxes[box].top + (Double(rowPositions[box][row]) + 0.5) * ColumnDrawing.rowHeight
    }

    // MARK: Sweeps

    /// Sweeps over the columns, and keeps the order that crosses the fewest lines.
    mutating func run() {
        for column in columns.indices { stack(column) }
        var best: (score: Double, columns: [[Int]], rows: [[Int]])?
        for sweep in 0..<24 {
            for column in sweep % 2 == 0 ? Array(columns.indices) : columns.indices.reversed() { sort(column) }
            sortRows()
            if sweep % 4 == 3 { exchangeNeighbours() }
            settle(rounds: 2)
            let score = score
            if score < (best?.score ?? .infinity) { best = (score, columns, rowOrder) }
        }
        if let best {
            columns = best.columns
            rowOrder = best.rows
            for box in boxes.indices { noteRows(of: box) }
        }
        for column in columns.indices { stack(column) }
        settle(rounds: 12)
        sortRows()
        settle(rounds: 6)
    }

    /// The crossings, and a little for the length of lines.
    private var score: Double {
        let length = segments.reduce(0.0) { $0 + abs(height($1.from) - height($1.to)) }
            + lines.reduce(0.0) { sum, line in
                column(ofBox: line.from.box) == column(ofBox: line.to.box) ? sum + 2 * abs(height(of: line.from) - height(of: line.to)) : sum
            }
        return Double(crossings) + length / 2000
    }

    private mutating func stack(_ column: Int) {
        var y = 0.0
        for (index, item) in columns[column].enumerated() {
            if index > 0 { y += ColumnHeights.gap(items[columns[column][index - 1]], items[item]) }
            items[item].y = y
            y += items[item].height
        }
        for item in columns[column] { items[item].y -= y / 2 }
    }

    /// Orders a column by the heights that its items would like.
    private mutating func sort(_ column: Int) {
        let wishes = columns[column].map { wish($0) ?? items[$0].y }
        let middles = zip(columns[column], wishes).map { $1 + items[$0].height / 2 }
        columns[column] = zip(columns[column], middles).enumerated()
            .sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
        stack(column)
    }

    /// The top that an item would like: the one that makes its lines level in the mean. nil without a line.
    private func wish(_ item: Int) -> Double? {
        var sum = 0.0, count = 0.0
        for index in touching[item] {
            let segment = segments[index]
            let (mine, other) = segment.from.item == item ? (segment.from, segment.to) : (segment.to, segment.from)
            // Lines through a column are to be straight.
            let weight = items[other.item].box == nil && items[item].box == nil ? 4.0 : 1.0
            sum += weight * (height(other) - offset(mine))
            count += weight
        }
        return count == 0 ? nil : sum / count
    }

    /// Lets all items move towards their wishes, without a change of the order.
    private mutating func settle(rounds: Int) {
        for round in 0..<rounds {
            for column in round % 2 == 0 ? Array(columns.indices) : columns.indices.reversed() {
                let list = columns[column]
                let wishes = list.map { wish($0) ?? items[$0].y }
                let tops = ColumnHeights.tops(list.map { items[$0] }, wishes: wishes)
                for (item, top) in zip(list, tops) { items[item].y = top }
            }
        }
    }

    /// Orders the rows of each box by the heights at which their lines end. One box after the other: two that are ordered at once by each other
    /// would only exchange their orders.
    private mutating func sortRows() {
        for box in boxes.indices where boxes[box].rows > 1 {
            let targets = targets(ofRowsOf: box)
            rowOrder[box] = targets.indices.sorted { (targets[$0], $0) < (targets[$1], $1) }
            noteRows(of: box)
        }
    }

    /// What is more than the height of any drawing.
    private static let far = 1e9

    /// The keys by which the rows of a box are ordered.
    private func targets(ofRowsOf box: Int) -> [Double] {
        var targets = [Double](repeating: .infinity, count: boxes[box].rows)
        for index in touching[box] {
            let segment = segments[index], (mine, other) = segment.from.item == box ? (segment.from, segment.to) : (segment.to, segment.from)
            if let row = mine.row { targets[row] = height(other) }
        }
        for index in beside[box] {
            for (mine, other) in [(lines[index].from, lines[index].to), (lines[index].to, lines[index].from)] where mine.box == box {
                guard let row = mine.row else { continue }
                let isBelow = items[other.box].y > items[box].y
                // The rows of a loop are neighbours, at the bottom. Lines beside a column lie in one another.
                targets[row] = other.box == box ? 2 * Self.far + Double(index) : (isBelow ? Self.far : -Self.far) - height(of: other)
            }
        }
        return targets
    }

    private mutating func noteRows(of box: Int) {
        for (position, row) in rowOrder[box].enumerated() { rowPositions[box][row] = position }
    }

    // MARK: Crossings

    /// The crossings of lines between neighbouring columns.
    var crossings: Int { (0..<max(0, columns.count - 1)).reduce(0) { $0 + crossings(behind: $1) } }

    private func crossings(behind column: Int) -> Int {
        var ends: [(left: Double, right: Double)] = []
        for segment in segments {
            let (a, b) = (items[segment.from.item].column, items[segment.to.item].column)
            guard min(a, b) == column else { continue }
            ends.append(a < b ? (height(segment.from), height(segment.to)) : (height(segment.to), height(segment.from)))
        }
        var count = 0
        for index in ends.indices {
            for other in ends.indices.dropFirst(index + 1) where (ends[index].left - ends[other].left) * (ends[index].right - ends[other].right) < 0 {
                count += 1
            }
        }
        return count
    }

    private func crossings(around column: Int) -> Int {
        (column > 0 ? crossings(behind: column - 1) : 0) + (column + 1 < columns.count ? crossings(behind: column) : 0)
    }

    /// Exchanges two neighbours in a column where that crosses fewer lines. A large drawing would take too long.
    private mutating func exchangeNeighbours() {
        guard segments.count <= 400 else { return }
        for column in columns.indices {
            var before = crossings(around: column)
            for index in columns[column].indices.dropLast() where before > 0 {
                let order = columns[column]
                columns[column].swapAt(index, index + 1)
                stack(column)
                let after = crossings(around: column)
                if after < before { before = after } else { columns[column] = order }
            }
            stack(column)
        }
    }
}
