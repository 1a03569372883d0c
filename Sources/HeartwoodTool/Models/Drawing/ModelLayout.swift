import Foundation
import Heartwood

/// The positions of the boxes and lines in a model's diagram. A relationship is a row of its entity's box, and a line joins the rows of two inverses,
/// so that no line needs a label.
struct ModelLayout {
    struct Row {
        let name: String
        /// The type, or the number of destinations.
        let note: String
    }

    struct Box {
        let entity: NSEntityDescription
        let title: String
        let attributes: [Row]
        /// The attributes that are left out.
        let hidden: Int
        /// In their order from top to bottom.
        var relationships: [Relationship]
        var x = 0.0
        var y = 0.0
        var width: Double
        let height: Double

        /// The height above the rows of relationships.
        var top: Double { ModelLayout.top(attributes.count + (hidden > 0 ? 1 : 0)) }
    }

    struct Relationship {
        let row: Row
        let description: NSRelationshipDescription
    }

    struct Line {
        enum Kind {
            case relationship(NSRelationshipDescription)
            /// Leads from the parent to the child.
            case inheritance
            /// Stands on a map for all relationships between two entities.
            case relationships
        }

        let from: Int
        let to: Int
        let kind: Kind
        var route: ColumnDrawing.Route
    }

    static let rowHeight = ColumnDrawing.rowHeight
    static let headHeight = ColumnDrawing.headHeight
    static let inset = 10.0
    private static let characterWidth = 7.3
    private static let groupGap = 40.0
    private static let margin = 20.0
    /// The width that a drawing does not pass if it need not.
    static let widthMax = 1560.0
    /// A larger model shows the first attributes of each entity.
    private static let fullEntitiesMax = 12
    /// The map of a larger model has names alone.
    private static let rowsEntitiesMax = 24
    private static let attributesMax = 6
    private static let nameMax = 36
    private static let shortNameMax = 26

    private(set) var boxes: [Box] = []
    private(set) var lines: [Line] = []
    private(set) var width = 0.0
    private(set) var height = 0.0
    /// Whether the boxes have names alone.
    let isMap: Bool

    /// - Parameter isMap: whether boxes of a large model have names alone, and a line stands for all relationships between two entities.
    init(_ loaded: LoadedModel, isMap: Bool = false) { self.init(loaded.entities, isMap: isMap) }

    init(_ entities: [NSEntityDescription], isMap: Bool = false) {
        let isMap = isMap && entities.count > Self.rowsEntitiesMax, isFull = entities.count <= Self.fullEntitiesMax
        self.isMap = isMap
        boxes = entities.map { isMap ? Self.box($0) : Self.box($0, isFull: isFull) }
        let indexes = Dictionary(uniqueKeysWithValues: entities.enumerated().map { (ObjectIdentifier($0.element), $0.offset) })
        for (index, entity) in entities.enumerated() {
            if let parent = entity.superentity.flatMap({ indexes[ObjectIdentifier($0)] }) { add(parent, index, .inheritance) }
            for relationship in entity.ownRelationships where relationship.isDrawn {
                guard let end = relationship.destinationEntity.flatMap({ indexes[ObjectIdentifier($0)] }) else { continue }
                if isMap { join(index, end) } else { add(index, end, .relationship(relationship)) }
            }
        }
        pack(groups())
    }

    private mutating func add(_ from: Int, _ to: Int, _ kind: Line.Kind) {
        lines.append(Line(from: from, to: to, kind: kind, route: .through([])))
    }

    /// Joins two boxes of a map, once.
    private mutating func join(_ from: Int, _ to: Int) {
        let isKnown = lines.contains { line in
            if case .relationships = line.kind { Set([line.from, line.to]) == [from, to] } else { false }
        }
        if from != to, !isKnown { add(from, to, .relationships) }
    }

    static func top(_ rows: Int) -> Double { headHeight + 5 + Double(rows) * rowHeight + (rows > 0 ? 5 : 0) }

    private static func box(_ entity: NSEntityDescription, isFull: Bool) -> Box {
        let most = isFull ? Int.max : attributesMax, letters = isFull ? nameMax : shortNameMax
        func cut(_ name: String) -> String { DisplayWidth.cut(DisplayWidth.printable(name), to: letters) }
        let attributes = entity.ownProperties.compactMap { $0 as? NSAttributeDescription }
        let shown = attributes.prefix(attributes.count - 1 <= most ? .max : most).map { attribute in
            Row(name: cut(attribute.name) + (attribute.isOptional ? "" : "*"), note: attribute.attributeType.modelFileName)
        }
        let hidden = attributes.count - shown.count
        let relationships = entity.ownRelationships.map {
            Relationship(row: Row(name: cut($0.name), note: $0.multiplicity), description: $0)
        }
        let widths = (shown + relationships.map(\.row)).map { DisplayWidth.of($0.name) + DisplayWidth.of($0.note) + 2 }
        let longest = max(DisplayWidth.of(cut(entity.title)), widths.max() ?? 0)
        let height = top(shown.count + (hidden > 0 ? 1 : 0)) + Double(relationships.count) * rowHeight + (relationships.isEmpty ? 0 : 5)
        return Box(
            entity: entity, title: cut(entity.title), attributes: shown, hidden: hidden, relationships: relationships,
            width: max(120, (Double(longest) * characterWidth + 2 * inset).rounded(.up)), height: height)
    }

    /// A box of a map.
    private static func box(_ entity: NSEntityDescription) -> Box {
        let title = DisplayWidth.cut(DisplayWidth.printable(entity.title), to: shortNameMax)
        let width = (Double(DisplayWidth.of(title)) * characterWidth + 2 * inset).rounded(.up)
        return Box(entity: entity, title: title, attributes: [], hidden: 0, relationships: [], width: max(80, width), height: headHeight)
    }

    // MARK: Groups

    /// The connected groups of boxes, largest first. All boxes without a line are the last group.
    private func groups() -> [[Int]] {
        var neighbours = [[Int]](repeating: [], count: boxes.count)
        for line in lines where line.from != line.to {
            neighbours[line.from].append(line.to)
            neighbours[line.to].append(line.from)
        }
        var seen = Set<Int>(), result: [[Int]] = [], alone: [Int] = []
        for start in boxes.indices where seen.insert(start).inserted {
            var group = [start], next = 0
            while next < group.count {
                for other in neighbours[group[next]] where seen.insert(other).inserted { group.append(other) }
                next += 1
            }
            if group.count == 1 { alone.append(start) } else { result.append(group.sorted()) }
        }
        return result.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
            + (alone.isEmpty ? [] : [alone])
    }

    /// Puts groups beside each other, and below each other when the width is full.
    private mutating func pack(_ groups: [[Int]]) {
        var x = Self.margin, y = Self.margin, shelf = 0.0
        for group in groups {
            let drawing = arrange(group)
            if x > Self.margin, x + drawing.width + Self.margin > Self.widthMax {
                (x, y, shelf) = (Self.margin, y + shelf + Self.groupGap, 0)
            }
            take(drawing.drawing, of: group, drawing.lines, at: ColumnDrawing.Point(x: x, y: y))
            width = max(width, x + drawing.width + Self.margin)
            height = max(height, y + drawing.drawing.height + Self.margin)
            x += drawing.width + Self.groupGap
            shelf = max(shelf, drawing.drawing.height)
        }
    }

    /// Draws a group with as many columns as fit the width.
    private func arrange(_ members: [Int]) -> (drawing: ColumnDrawing, lines: [Int], width: Double) {
        let own = Dictionary(uniqueKeysWithValues: members.enumerated().map { ($0.element, $0.offset) })
        let mine = lines.indices.filter { own[lines[$0].from] != nil }
        let parts = mine.map { ends(of: lines[$0], own) }
        let shapes = members.map { member in
            let box = boxes[member], rows = Double(box.relationships.count) * Self.rowHeight, bottom = box.relationships.isEmpty ? 0.0 : 5
            return ColumnDrawing.Box(width: box.width, top: box.height - rows - bottom, rows: box.relationships.count, bottom: bottom)
        }
        let total = shapes.reduce(0) { $0 + $1.height + ColumnHeights.boxGap }
        var columns = max(2, min(7, Int((total / 130).squareRoot().rounded(.up))))
        var drawing = ColumnDrawing(shapes, parts, columnsMax: columns)
        while drawing.width > Self.widthMax - 2 * Self.margin, columns > 2 {
            columns -= 1
            drawing = ColumnDrawing(shapes, parts, columnsMax: columns)
        }
        return (drawing, mine, drawing.width)
    }

    private func ends(of line: Line, _ own: [Int: Int]) -> ColumnDrawing.Line {
        func row(_ box: Int, _ relationship: NSRelationshipDescription?) -> Int? {
            relationship.flatMap { wanted in boxes[box].relationships.firstIndex { $0.description === wanted } }
        }
        let relationship: NSRelationshipDescription? = if case .relationship(let wanted) = line.kind { wanted } else { nil }
        let inverse = relationship?.inverseRelationship
        return ColumnDrawing.Line(
            from: ColumnDrawing.End(box: own[line.from] ?? 0, row: row(line.from, relationship)),
            to: ColumnDrawing.End(box: own[line.to] ?? 0, row: row(line.to, inverse)))
    }

    private mutating func take(_ drawing: ColumnDrawing, of members: [Int], _ mine: [Int], at origin: ColumnDrawing.Point) {
        func moved(_ point: ColumnDrawing.Point) -> ColumnDrawing.Point {
            ColumnDrawing.Point(x: point.x + origin.x, y: point.y + origin.y)
        }
        for (index, member) in members.enumerated() {
            let place = moved(drawing.places[index])
            (boxes[member].x, boxes[member].y, boxes[member].width) = (place.x, place.y, drawing.widths[index])
            let rows = boxes[member].relationships
            boxes[member].relationships = drawing.rowOrder[index].map { rows[$0] }
        }
        for (index, line) in mine.enumerated() {
            lines[line].route = switch drawing.routes[index] {
            case .through(let points): .through(points.map(moved))
            case .around(let start, let end, let reach): .around(moved(start), moved(end), reach: reach)
            }
        }
    }
}
