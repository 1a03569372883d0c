import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

/// The classes declare every property as required; the model allows null for all. Accessors are those of the plugin.
final class PathLine: NSManagedObject {
    var order: PathOrder { requiredValue(value(forKey: "order") as? PathOrder, forKey: "order") }
    var note: String { requiredValue(value(forKey: "note") as? String, forKey: "note") }
    var labels: [String] { requiredValue(value(forKey: "labels") as? [String], forKey: "labels") }
    var names: NSDictionary { requiredValue(value(forKey: "names") as? NSDictionary, forKey: "names") }
    var looseOrder: PathOrder? { value(forKey: "order") as? PathOrder }
}

final class PathOrder: NSManagedObject {
    var siteID: String { requiredValue(value(forKey: "siteID") as? String, forKey: "siteID") }
    var number: Int64 { requiredValue(value(forKey: "number") as? Int64, forKey: "number") }
    var date: Date { requiredValue(value(forKey: "date") as? Date, forKey: "date") }
    var price: NSDecimalNumber { requiredValue(value(forKey: "price") as? NSDecimalNumber, forKey: "price") }
    var token: UUID { requiredValue(value(forKey: "token") as? UUID, forKey: "token") }
    var link: URL { requiredValue(value(forKey: "link") as? URL, forKey: "link") }
    var data: Data { requiredValue(value(forKey: "data") as? Data, forKey: "data") }
    var isOpen: Bool { requiredValue(value(forKey: "isOpen") as? Bool, forKey: "isOpen") }
    var site: PathSite { requiredValue(value(forKey: "site") as? PathSite, forKey: "site") }
    var lines: Set<PathLine> { value(forKey: "lines") as? Set<PathLine> ?? [] }
}

final class PathSite: NSManagedObject {
    var name: String { requiredValue(value(forKey: "name") as? String, forKey: "name") }
}

@Suite struct RequiredRelationshipTests {
    private static func model() -> NSManagedObjectModel {
        let line = NSEntityDescription(), order = NSEntityDescription(), site = NSEntityDescription()
        for (entity, name, className) in [
            (line, "Line", NSStringFromClass(PathLine.self)), (order, "Order", NSStringFromClass(PathOrder.self)),
            (site, "Site", NSStringFromClass(PathSite.self)),
        ] {
            entity.name = name
            entity.managedObjectClassName = className
        }
        let toOrder = TestStack.relationship("order", to: order, toMany: false), lines = TestStack.relationship("lines", to: line, toMany: true)
        TestStack.connect(toOrder, lines)
        line.properties = [
            TestStack.attribute("note", .stringAttributeType), TestStack.attribute("labels", .transformableAttributeType),
            TestStack.attribute("names", .transformableAttributeType), toOrder,
        ]
        order.properties = [
            TestStack.attribute("siteID", .stringAttributeType), TestStack.attribute("number", .integer64AttributeType),
            TestStack.attribute("date", .dateAttributeType), TestStack.attribute("price", .decimalAttributeType),
            TestStack.attribute("token", .UUIDAttributeType), TestStack.attribute("link", .URIAttributeType),
            TestStack.attribute("data", .binaryDataAttributeType), TestStack.attribute("isOpen", .booleanAttributeType), lines,
            TestStack.relationship("site", to: site, toMany: false),
        ]
        site.properties = [TestStack.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [line, order, site]
        return model
    }

    @Test
    func `A path through an optional relationship consists of its names`() throws {
        let stack = try TestStack(.inMemory, model: Self.model())
        withExtendedLifetime(stack) {
            let paths: [(NSExpression, String)] = [
                (NSExpression(forKeyPath: \PathLine.order), "order"), (NSExpression(forKeyPath: \PathLine.order.siteID), "order.siteID"),
                (NSExpression(forKeyPath: \PathLine.order.number), "order.number"), (NSExpression(forKeyPath: \PathLine.order.date), "order.date"),
                (NSExpression(forKeyPath: \PathLine.order.price), "order.price"), (NSExpression(forKeyPath: \PathLine.order.token), "order.token"),
                (NSExpression(forKeyPath: \PathLine.order.link), "order.link"), (NSExpression(forKeyPath: \PathLine.order.data), "order.data"),
                (NSExpression(forKeyPath: \PathLine.order.isOpen), "order.isOpen"), (NSExpression(forKeyPath: \PathLine.order.site), "order.site"),
                (NSExpression(forKeyPath: \PathLine.order.site.name), "order.site.name"),
                (NSExpression(forKeyPath: \PathLine.order.lines), "order.lines"),
                (NSExpression(forKeyPath: \PathLine.looseOrder?.site.name), "order.site.name"), (NSExpression(forKeyPath: \PathLine.note), "note"),
                (NSExpression(forKeyPath: \PathLine.labels), "labels"), (NSExpression(forKeyPath: \PathLine.names), "names"),
            ]
            for (expression, path) in paths {
                #expect(expression.expressionType == .keyPath)
                if expression.expressionType == .keyPath { #expect(expression.keyPath == path) }
            }
        }
    }

    private func fill(_ stack: TestStack) throws {
        for (note, site) in [("a", "2"), ("b", nil), ("c", "1"), ("d", "-")] as [(String, String?)] {
            let line = stack.insert("Line", ["note": note])
            guard site != "-" else { continue }
            line.setValue(stack.insert("Order", site.map { ["siteID": $0] } ?? [:]), forKey: "order")
        }
        try stack.context.save()
    }

    @Test(arguments: StoreKind.allCases)
    func `Stores can be asked by such paths`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        try fill(stack)
        let request = NSFetchRequest<PathLine>(entityName: "Line")
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \PathLine.order.siteID, ascending: true), NSSortDescriptor(keyPath: \PathLine.note, ascending: true),
        ]
        #expect(try stack.context.fetch(request).map(\.note) == ["b", "d", "c", "a"], "null comes first")
        request.predicate = try NSPredicate(translating: #Predicate<PathLine> { $0.order.siteID == "1" })
        #expect(try stack.context.fetch(request).map(\.note) == ["c"])
        request.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: \PathLine.order.siteID), rightExpression: NSExpression(forConstantValue: "2"),
            modifier: .direct,
            type: .equalTo)
        #expect(try stack.context.fetch(request).map(\.note) == ["a"])
    }

    @Test
    func `Lists in memory can be sorted by such paths`() throws {
        let stack = try TestStack(.inMemory, model: Self.model())
        try fill(stack)
        let lines = NSArray(array: try stack.fetch("Line", sort: [NSSortDescriptor(key: "note", ascending: false)]))
        let sorted = lines.sortedArray(using: [
            NSSortDescriptor(keyPath: \PathLine.order.siteID, ascending: true), NSSortDescriptor(keyPath: \PathLine.note, ascending: true),
        ])
        #expect(sorted.compactMap { ($0 as? PathLine)?.note } == ["b", "d", "c", "a"])
    }
}
