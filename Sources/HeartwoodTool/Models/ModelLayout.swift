import Foundation
import Heartwood

/// The positions of the boxes in a model's diagram. Entities are in columns by their relationships; lines run between the boxes.
///
/// The steps are those of a layered drawing: lines are turned until there is no cycle, a box is to the right of every box that refers to it, a line
/// over several columns gets a position in each, and columns are ordered by the mean height of their boxes' neighbours.
/// Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures", 1981
struct ModelLayout {
    struct Box {
        let entity: NSEntityDescription
        let rows: [String]
        var x = 0.0
        var y = 0.0
        let width: Double
        let height: Double
    }

    struct Line {
        let from: Int
        let to: Int
        /// nil for inheritance.
        let relationship: NSRelationshipDescription?
        /// The line's points in the columns between its boxes.
        var points: [(x: Double, y: Double)] = []
    }

    static let rowHeight = 18.0
    static let headHeight = 28.0
    private static let characterWidth = 7.0
    private static let columnGap = 180.0
    private static let rowGap = 26.0
    private static let margin = 24.0
    /// Unconnected groups are put beside each other up to this width.
    private static let shelfWidth = 1600.0

    private(set) var boxes: [Box] = []
    private(set) var lines: [Line] = []
    private(set) var width = 0.0
    private(set) var height = 0.0

    init(_ loaded: LoadedModel) {
        let entities = loaded.entities
        let indexes = Dictionary(uniqueKeysWithValues: entities.enumerated().map { (ObjectIdentifier($0.element), $0.offset) })
        boxes = entities.map(Self.box)
        for (index, entity) in entities.enumerated() {
            if let parent = entity.superentity.flatMap({ indexes[ObjectIdentifier($0)] }) {
                lines.append(Line(from: parent, to: index, relationship: nil))
            }
            for relationship in entity.ownRelationships where relationship.isDrawn {
                if let destination = relationship.destinationEntity.flatMap({ indexes[ObjectIdentifier($0)] }) {
                    lines.append(Line(from: index, to: destination, relationship: relationship))
                }
            }
        }
        pack(groups().map { arrange($0) })
    }

    private static func box(_ entity: NSEntityDescription) -> Box {
        let rows = entity.ownProperties.compactMap { $0 as? NSAttributeDescription }.map { attribute in
            "\(attribute.name)\(attribute.isOptional ? "" : "*"): \(attribute.attributeType.modelFileName)"
        }
        let longest = ([entity.title] + rows).map(\.count).max() ?? 0
        return Box(
            entity: entity, rows: rows, width: max(110, Double(longest) * characterWidth + 24),
            height: headHeight + Double(rows.count) * rowHeight + (rows.isEmpty ? 0 : 8))
    }

    // MARK: Groups

    /// The connected groups of boxes, largest first.
    private func groups() -> [[Int]] {
        var neighbours = [[Int]](repeating: [], count: boxes.count)
        for line in lines {
            neighbours[line.from].append(line.to)
            neighbours[line.to].append(line.from)
        }
        var seen = Set<Int>(), result: [[Int]] = []
        for start in boxes.indices where seen.insert(start).inserted {
            var group = [start], next = 0
            while next < group.count {
                for other in neighbours[group[next]] where seen.insert(other).inserted { group.append(other) }
                next += 1
            }
            result.append(group.sorted())
        }
        return result.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
    }

    /// Puts groups beside each other, and on a new shelf when one is full.
    private mutating func pack(_ groups: [(members: [Int], lines: [Int], width: Double, height: Double)]) {
        var x = Self.margin, y = Self.margin, shelf = 0.0
        for group in groups {
            if x > Self.margin, x + group.width > Self.shelfWidth {
                x = Self.margin
                y += shelf + Self.rowGap * 1.5
                shelf = 0
            }
            for member in group.members {
                boxes[member].x += x
                boxes[member].y += y
            }
            for line in group.lines { lines[line].points = lines[line].points.map { ($0.x + x, $0.y + y) } }
            width = max(width, x + group.width + Self.margin)
            x += group.width + Self.rowGap * 1.5
            shelf = max(shelf, group.height)
            height = max(height, y + group.height + Self.margin)
        }
    }

    // MARK: Columns

    /// A position in a column: a box, or a point of a line that passes through.
    private struct Node {
        let box: Int?
        let line: Int?
        var y = 0.0
        let height: Double
        var neighbours: [Int] = []
    }

    private mutating func arrange(_ members: [Int]) -> (members: [Int], lines: [Int], width: Double, height: Double) {
        let within = Set(members)
        let mine = lines.indices.filter { within.contains(lines[$0].from) }
        let turned = mine.filter { lines[$0].from != lines[$0].to }.map { line in (line, lines[line].from, lines[line].to) }
        let column = columns(members, turned.map { ($0.1, $0.2) })
        var nodes: [Node] = [], columnNodes = [[Int]](repeating: [], count: (column.values.max() ?? 0) + 1)
        var nodeOfBox: [Int: Int] = [:]
        for member in members {
            nodeOfBox[member] = nodes.count
            columnNodes[column[member] ?? 0].append(nodes.count)
            nodes.append(Node(box: member, line: nil, height: boxes[member].height))
        }
        var through: [Int: [Int]] = [:]
        for (line, from, to) in turned {
            let a = column[from] ?? 0, b = column[to] ?? 0
            let (left, right) = a <= b ? (from, to) : (to, from)
            var last = nodeOfBox[left] ?? 0
            var way: [Int] = []
            if abs(a - b) > 1 {
                for between in min(a, b) + 1..<max(a, b) {
                    way.append(nodes.count)
                    columnNodes[between].append(nodes.count)
                    Self.connect(last, nodes.count, &nodes, Node(box: nil, line: line, height: 10))
                    last = nodes.count - 1
                }
            }
            let end = nodeOfBox[right] ?? 0
            nodes[last].neighbours.append(end)
            nodes[end].neighbours.append(last)
            through[line] = a <= b ? way : way.reversed()
        }
        Self.order(&columnNodes, &nodes)
        return finish(members, mine, columnNodes, nodes, through)
    }

    private static func connect(_ last: Int, _ new: Int, _ nodes: inout [Node], _ node: Node) {
        nodes.append(node)
        nodes[last].neighbours.append(new)
        nodes[new].neighbours.append(last)
    }

    /// A box's column is behind those of all boxes that refer to it. Lines that would close a cycle do not count.
    private func columns(_ members: [Int], _ edges: [(from: Int, to: Int)]) -> [Int: Int] {
        let out = Dictionary(grouping: edges, by: \.from)
        var state: [Int: Int] = [:], kept: [(Int, Int)] = [], finished: [Int] = []
        // Not recursive: a chain of entities may be long.
        for start in members where state[start] == nil {
            var stack = [(start, 0)]
            state[start] = 1
            while let (node, next) = stack.last {
                let list = out[node] ?? []
                guard next < list.count else {
                    state[node] = 2
                    finished.append(node)
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].1 = next + 1
                let to = list[next].to
                if state[to] != 1 { kept.append((node, to)) }
                if state[to] == nil {
                    state[to] = 1
                    stack.append((to, 0))
                }
            }
        }
        var column = Dictionary(uniqueKeysWithValues: members.map { ($0, 0) })
        let after = Dictionary(grouping: kept, by: \.0)
        for node in finished.reversed() {
            for (_, to) in after[node] ?? [] { column[to] = max(column[to] ?? 0, (column[node] ?? 0) + 1) }
        }
        return column
    }

    /// Sweeps over the columns and moves each position to the mean of its neighbours' heights.
    private static func order(_ columns: inout [[Int]], _ nodes: inout [Node]) {
        func stack(_ column: [Int]) {
            var y = 0.0
            for index in column {
                nodes[index].y = y
                y += nodes[index].height + rowGap
            }
            for index in column { nodes[index].y -= y / 2 }
        }
        for column in columns { stack(column) }
        for sweep in 0..<8 {
            for at in sweep % 2 == 0 ? Array(columns.indices) : columns.indices.reversed() {
                let middle = columns[at].map { index -> Double in
                    let around = nodes[index].neighbours
                    guard !around.isEmpty else { return nodes[index].y }
                    return around.reduce(0) { $0 + nodes[$1].y + nodes[$1].height / 2 } / Double(around.count)
                }
                columns[at] = zip(columns[at], middle).enumerated()
                    .sorted { ($0.element.1, $0.offset) < ($1.element.1, $1.offset) }.map(\.element.0)
                stack(columns[at])
            }
        }
    }

    private mutating func finish(
        _ members: [Int], _ mine: [Int], _ columns: [[Int]], _ nodes: [Node], _ through: [Int: [Int]]
    ) -> (members: [Int], lines: [Int], width: Double, height: Double) {
        let top = nodes.map(\.y).min() ?? 0
        var x = 0.0, tall = 0.0
        var middle = [Double](repeating: 0, count: nodes.count)
        for column in columns {
            let widest = column.compactMap { nodes[$0].box.map { boxes[$0].width } }.max() ?? 0
            for index in column {
                middle[index] = x + widest / 2
                tall = max(tall, nodes[index].y - top + nodes[index].height)
                if let box = nodes[index].box {
                    boxes[box].x = x + (widest - boxes[box].width) / 2
                    boxes[box].y = nodes[index].y - top
                }
            }
            x += widest + Self.columnGap
        }
        for line in mine { lines[line].points = (through[line] ?? []).map { (middle[$0], nodes[$0].y - top + nodes[$0].height / 2) } }
        // A line from a box to itself runs round its right side.
        let loops = mine.contains { lines[$0].from == lines[$0].to }
        return (members, mine, max(0, x - Self.columnGap) + (loops ? 60 : 0), tall)
    }
}
