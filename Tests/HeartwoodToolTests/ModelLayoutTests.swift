import Foundation
import Heartwood
import Testing

@testable import HeartwoodTool

/// The drawing of a model: nothing lies over anything else, and few lines cross.
@Suite struct ModelLayoutTests {
    typealias Point = ColumnDrawing.Point

    /// A model of entities that are joined by relationships.
    /// - Parameters:
    ///   - joined: the numbers of two entities each. One refers to many of the other.
    ///   - parents: by the number of an entity, that of its parent.
    private static func entities(_ count: Int, _ joined: [(Int, Int)], parents: [Int: Int] = [:]) -> [NSEntityDescription] {
        let entities = (0..<count).map { number in
            let entity = NSEntityDescription()
            entity.name = "Entity\(number)"
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType) = ("name\(number)", .stringAttributeType)
            entity.properties = [attribute]
            return entity
        }
        for (number, (from, to)) in joined.enumerated() {
            let many = NSRelationshipDescription(), one = NSRelationshipDescription()
            (many.name, many.destinationEntity, many.maxCount) = ("many\(number)", entities[to], 0)
            (one.name, one.destinationEntity, one.maxCount) = ("one\(number)", entities[from], 1)
            (many.inverseRelationship, one.inverseRelationship) = (one, many)
            entities[from].properties.append(many)
            entities[to].properties.append(one)
        }
        // Names of properties are unique among an entity and those above it.
        for (child, parent) in parents.sorted(by: { $0.key < $1.key }) { entities[parent].subentities.append(entities[child]) }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model.entities.sorted { $0.title < $1.title }
    }

    /// The points of a line, close enough to each other to stand for it.
    private static func points(_ route: ColumnDrawing.Route) -> [Point] {
        func curve(_ a: Point, _ b: Point, _ c: Point, _ d: Point) -> [Point] {
            (0...40).map { step in
                let t = Double(step) / 40, s = 1 - t
                let weights = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t]
                return Point(
                    x: zip(weights, [a, b, c, d]).reduce(0) { $0 + $1.0 * $1.1.x }, y: zip(weights, [a, b, c, d]).reduce(0) { $0 + $1.0 * $1.1.y })
            }
        }
        switch route {
        case .around(let start, let end, let reach):
            let x = start.x + reach * 4 / 3
            return curve(start, Point(x: x, y: start.y), Point(x: x, y: end.y), end)
        case .through(let stations):
            return zip(stations, stations.dropFirst()).flatMap { a, b in
                let middle = (a.x + b.x) / 2
                return curve(a, Point(x: middle, y: a.y), Point(x: middle, y: b.y), b)
            }
        }
    }

    private static func cross(_ a: Point, _ b: Point, _ c: Point, _ d: Point) -> Bool {
        func side(_ p: Point, _ q: Point, _ r: Point) -> Double { (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x) }
        return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
    }

    private static func crossings(_ layout: ModelLayout) -> Int {
        let drawn = layout.lines.map { points($0.route) }
        var count = 0
        for (index, one) in drawn.enumerated() {
            for other in drawn.dropFirst(index + 1) {
                for (a, b) in zip(one, one.dropFirst()) {
                    for (c, d) in zip(other, other.dropFirst()) where cross(a, b, c, d) { count += 1 }
                }
            }
        }
        return count
    }

    /// The faults of a drawing that no model excuses.
    private static func faults(_ layout: ModelLayout) -> [String] {
        var faults: [String] = []
        for (index, a) in layout.boxes.enumerated() {
            for b in layout.boxes.dropFirst(index + 1)
            where a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height {
                faults.append("\(a.title) lies over \(b.title)")
            }
            let rows = a.attributes + a.relationships.map(\.row)
            for row in rows where Double(DisplayWidth.of(row.name) + DisplayWidth.of(row.note)) * 7.2 + 2 * ModelLayout.inset > a.width {
                faults.append("\(a.title).\(row.name) is wider than its box")
            }
            if a.x < 0 || a.y < 0 || a.x + a.width > layout.width || a.y + a.height > layout.height { faults.append("\(a.title) is outside") }
        }
        for line in layout.lines {
            for point in points(line.route) {
                for box in layout.boxes
                where point.x > box.x + 0.5 && point.x < box.x + box.width - 0.5 && point.y > box.y && point.y < box.y + box.height {
                    faults.append("a line from \(layout.boxes[line.from].title) to \(layout.boxes[line.to].title) lies over \(box.title)")
                }
                if point.x < 0 || point.x > layout.width { faults.append("a line is outside") }
            }
        }
        return Array(Set(faults)).sorted()
    }

    @Test(arguments: [
        (3, [(0, 1), (1, 2)]), (2, [(0, 1), (0, 1), (1, 0)]), (6, [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]),
        (7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]), (4, [(0, 1), (1, 2), (2, 3), (3, 0)]), (5, []),
    ])
    func `A small model that can be drawn without crossings is`(count: Int, joined: [(Int, Int)]) {
        let layout = ModelLayout(Self.entities(count, joined))
        #expect(layout.lines.count == joined.count)
        #expect(Self.faults(layout).isEmpty)
        #expect(Self.crossings(layout) == 0)
    }

    @Test
    func `A tree of inheritance is drawn without crossings, from parents to children`() {
        let layout = ModelLayout(Self.entities(7, [], parents: [1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2]))
        #expect(layout.lines.count == 6 && layout.lines.allSatisfy { if case .inheritance = $0.kind { true } else { false } })
        #expect(Self.faults(layout).isEmpty && Self.crossings(layout) == 0)
    }

    @Test
    func `A relationship to its own entity runs beside the box, from one of its rows to the other`() throws {
        let layout = ModelLayout(Self.entities(1, [(0, 0), (0, 0)]))
        #expect(Self.faults(layout).isEmpty && Self.crossings(layout) == 0)
        for line in layout.lines {
            guard case .around(let start, let end, let reach) = line.route else {
                Issue.record("\(line.route) does not run beside the box")
                continue
            }
            #expect(start.y != end.y && reach > 0 && start.x == layout.boxes[0].x + layout.boxes[0].width)
        }
    }

    @Test
    func `A large model keeps within the width, and no line lies over a box`() {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("ModelLayoutTests: seed \(seed)")
        var state = seed
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let joined = (0..<110).map { _ in (next(90), next(90)) }
        let layout = ModelLayout(Self.entities(90, joined))
        #expect(Self.faults(layout).isEmpty, "seed \(seed)")
        #expect(layout.width <= ModelLayout.widthMax, "seed \(seed)")

        let map = ModelLayout(Self.entities(90, joined), isMap: true)
        #expect(Self.faults(map).isEmpty, "seed \(seed)")
        #expect(map.isMap && map.width <= ModelLayout.widthMax && map.height < layout.height * 3 / 4, "seed \(seed)")
        #expect(map.boxes.allSatisfy { $0.attributes.isEmpty && $0.relationships.isEmpty })
        #expect(Set(map.lines.map { Set([$0.from, $0.to]) }).count == map.lines.count, "seed \(seed): two boxes are joined once")
        #expect(map.lines.count == Set(joined.filter { $0.0 != $0.1 }.map { Set([$0.0, $0.1]) }).count, "seed \(seed)")
    }

    @Test
    func `The map of a small model has all rows`() {
        let layout = ModelLayout(Self.entities(3, [(0, 1), (1, 2)]), isMap: true)
        #expect(!layout.isMap && layout.boxes.allSatisfy { !$0.attributes.isEmpty })
    }
}
