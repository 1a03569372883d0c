/// Gives each box of a drawing a column, so that most lines lead to the next column and the columns are about equally high.
struct ColumnChoice {
    private let heights: [Double]
    private let neighbours: [[Int]]
    private let count: Int
    private(set) var columns: [Int]

    init(_ boxes: [ColumnDrawing.Box], _ lines: [ColumnDrawing.Line], columnsMax: Int) {
        heights = boxes.map { $0.height + ColumnHeights.boxGap }
        var neighbours = [[Int]](repeating: [], count: boxes.count)
        for line in lines where line.from.box != line.to.box {
            neighbours[line.from.box].append(line.to.box)
            neighbours[line.to.box].append(line.from.box)
        }
        self.neighbours = neighbours
        count = max(1, min(columnsMax, boxes.count))
        columns = [Int](repeating: 0, count: boxes.count)
        choose()
    }

    /// Tries the busiest boxes in each column, and takes the cheapest outcome.
    private mutating func choose() {
        let busiest = heights.indices.sorted { (neighbours[$1].count, $0) < (neighbours[$0].count, $1) }.prefix(4)
        var best: (cost: Double, columns: [Int])?
        for hub in busiest {
            for start in 0..<count {
                columns = spread(from: hub, at: start)
                improve()
                let cost = cost()
                if cost < (best?.cost ?? .infinity) { best = (cost, columns) }
            }
        }
        columns = (best?.columns ?? columns)
        closeUp()
    }

    /// Leaves no column empty.
    private mutating func closeUp() {
        let used = Set(columns).sorted()
        columns = columns.map { used.firstIndex(of: $0) ?? 0 }
    }

    /// Puts each box into a column beside one of its neighbours, breadth first from one box.
    private func spread(from hub: Int, at start: Int) -> [Int] {
        var found = [Int?](repeating: nil, count: heights.count), load = [Double](repeating: 0, count: count)
        func put(_ box: Int, _ column: Int) {
            found[box] = column
            load[column] += heights[box]
        }
        for first in [hub] + heights.indices where found[first] == nil {
            put(first, first == hub ? start : load.indices.min { load[$0] < load[$1] } ?? 0)
            var queue = [first], next = 0
            while next < queue.count {
                let at = found[queue[next]] ?? 0
                for other in neighbours[queue[next]] where found[other] == nil {
                    let beside = [at - 1, at + 1].filter { 0..<count ~= $0 }
                    put(other, beside.min { load[$0] < load[$1] } ?? at)
                    queue.append(other)
                }
                next += 1
            }
        }
        return found.map { $0 ?? 0 }
    }

    /// Moves one box at a time while that is cheaper.
    private mutating func improve() {
        var load = [Double](repeating: 0, count: count)
        for (box, column) in columns.enumerated() { load[column] += heights[box] }
        for _ in 0..<20 {
            var isBetter = false
            for box in columns.indices {
                let old = columns[box]
                load[old] -= heights[box]
                let prices = (0..<count).map { price(of: box, in: $0, load) }
                let best = prices.indices.min { prices[$0] < prices[$1] } ?? old
                if prices[best] < prices[old] - 1e-6 { (columns[box], isBetter) = (best, true) }
                load[columns[box]] += heights[box]
            }
            guard isBetter else { return }
        }
    }

    private var fairHeight: Double { max(1, heights.reduce(0, +) / Double(count)) }

    private func price(of box: Int, in column: Int, _ load: [Double]) -> Double {
        let lines = neighbours[box].reduce(0.0) { $0 + Self.price(span: abs(columns[$1] - column)) }
        let before = load[column] / fairHeight, after = (load[column] + heights[box]) / fairHeight
        return lines + balance * (after * after - before * before)
    }

    /// The worth of equal columns: in a large drawing a few long lines are better than one endless column.
    private var balance: Double { 1.5 + 0.12 * Double(heights.count) }

    private func cost() -> Double {
        var load = [Double](repeating: 0, count: count), sum = 0.0
        for box in columns.indices {
            load[columns[box]] += heights[box]
            sum += neighbours[box].reduce(0.0) { $0 + Self.price(span: abs(columns[$1] - columns[box])) } / 2
        }
        return sum + balance * load.reduce(0.0) { $0 + ($1 / fairHeight) * ($1 / fairHeight) }
    }

    /// A line within a column, or over several, is dearer than one to the next column.
    private static func price(span: Int) -> Double {
        switch span {
        case 0: 2.5
        case 1: 0
        default: 2 + 1.5 * Double(span - 1)
        }
    }
}
