import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Fetch indexes of every shape, and their changes with a model.
@Suite struct FetchIndexTests {
    private static func model(_ indexes: (NSEntityDescription) -> [NSFetchIndexDescription]) -> NSManagedObjectModel {
        let model = SampleGraph.model()
        let sample = model.entitiesByName["Sample"]!
        sample.indexes = indexes(sample)
        return model
    }

    private static func index(
        _ name: String, _ elements: [(NSPropertyDescription, Bool)], where predicate: String? = nil
    ) -> NSFetchIndexDescription {
        let index = NSFetchIndexDescription(name: name, elements: elements.map { property, isAscending in
            let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
            element.isAscending = isAscending
            return element
        })
        index.partialIndexPredicate = predicate.map { NSPredicate(format: $0) }
        return index
    }

    private static func expression(_ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = format
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private func stack(_ kind: StoreKind, at url: URL? = nil, _ indexes: (NSEntityDescription) -> [NSFetchIndexDescription]) throws -> TestStack {
        let stack = try TestStack(kind, model: Self.model(indexes), at: url)
        stack.store.indexing.wait()
        guard try stack.fetch("Sample").isEmpty else { return stack }
        for number in 0..<400 {
            let sample = stack.insert(number % 5 == 0 ? "Special" : "Sample", ["id": "i\(number)", "bits": number % 40])
            if number % 4 != 0 { sample.setValue("Name\(number % 50)", forKey: "name") }
            if number % 3 != 0 { sample.setValue(number % 61, forKey: "age") }
        }
        try stack.context.save()
        return stack
    }

    private func explain(_ stack: TestStack, _ format: String, _ sort: [(String, Bool)] = [], limit: Int = 0) throws -> FetchPlan {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.0, ascending: $0.1) }
        request.fetchLimit = limit
        let plan = try stack.context.explain(request)
        let found = try stack.context.fetch(request).count
        let scanned = try QueryTuning.with(QueryTuning(access: .scan)) { try stack.context.fetch(request).count }
        #expect(found == scanned && (limit > 0 || plan.rowsMatched == found), "\(format)")
        return plan
    }

    /// The two texts are equal in Swift, but not in a fetch.
    @Test(arguments: StoreKind.planning)
    func `A partial index over one form of a text is not used for the other`(kind: StoreKind) throws {
        let composed = "\u{E9}t\u{E9}", decomposed = "e\u{301}te\u{301}"
        let stack = try stack(kind) { sample in
            [Self.index("part", [(sample.propertiesByName["age"]!, true)], where: "name == '\(composed)'")]
        }
        for number in 0..<20 { stack.insert("Sample", ["id": "t\(number)", "name": number < 7 ? composed : decomposed, "age": number]) }
        try stack.context.save()
        for (text, count) in [(composed, 7), (decomposed, 13)] {
            let plan = try explain(stack, "name == '\(text)' AND age >= 0")
            #expect(plan.rowsMatched == count && plan.parts.contains { $0.access == .index("index:part") } == (count == 7))
        }
    }

    @Test(arguments: StoreKind.planning)
    func `Several elements may be descending`(kind: StoreKind) throws {
        let stack = try stack(kind) { sample in
            let properties = sample.propertiesByName
            return [Self.index("mixed", [(properties["age"]!, false), (properties["name"]!, true), (properties["bits"]!, false)])]
        }
        let ordered = try explain(stack, "age != nil", [("age", false), ("name", true)], limit: 10)
        #expect(ordered.parts.allSatisfy { $0.access == .index("index:mixed") && $0.isOrderedByIndex } && ordered.rowsVisited == 10)
        let reversed = try explain(stack, "age BETWEEN {3, 20}", [("age", true), ("name", false), ("bits", true)], limit: 10)
        #expect(reversed.parts.allSatisfy(\.isOrderedByIndex) && reversed.rowsVisited == 10)
        #expect(try explain(stack, "age = 7 AND name BEGINSWITH 'Name1'").parts[0].access == .index("index:mixed"))
        #expect(try explain(stack, "age = 7 AND name = 'Name7' AND bits > 3").rowsVisited <= 8)
        #expect(try explain(stack, "TRUEPREDICATE", [("age", true), ("name", true)], limit: 10).isSorted)
    }

    @Test(arguments: StoreKind.planning)
    func `An index may be over an expression`(kind: StoreKind) throws {
        let stack = try stack(kind) { sample in
            [
                Self.index("lower", [(Self.expression("lowercase(name)", .stringAttributeType), true)]),
                Self.index(
                    "double", [(Self.expression("age * 2 + bits", .integer64AttributeType), false), (sample.propertiesByName["name"]!, true)]),
                Self.index("plain", [(Self.expression("bits", .integer64AttributeType), true)]),
            ]
        }
        for (format, index, most) in [
            ("lowercase(name) = 'name7'", "lower", 10), ("lowercase(name) IN {'name7', 'name9', 'none'}", "lower", 20),
            ("lowercase(name) BEGINSWITH 'name4'", "lower", 100),
            ("age * 2 + bits > 150", "double", 40), ("20 > age * 2 + bits", "double", 80), ("age * 2 + bits = 44 AND name > 'a'", "double", 20),
            ("bits = 7", "plain", 10),
        ] {
            let plan = try explain(stack, format)
            #expect(plan.parts.allSatisfy { $0.access == .index("index:\(index)") } && plan.rowsVisited <= most, "\(format): \(plan)")
        }
        #expect(try explain(stack, "lowercase(name) =[c] 'NAME7'").parts[0].access == .scan)
        #expect(try explain(stack, "uppercase(name) = 'NAME7'").parts[0].access == .scan)
        let object = try stack.fetch("Sample", "lowercase(name) = 'name7'")[0]
        object.setValue("OTHER", forKey: "name")
        try stack.context.save()
        #expect(try stack.fetch("Sample", "lowercase(name) = 'other'") == [object])
        #expect(stack.context.lastQuery.rowsVisited == 1)
    }

    @Test(arguments: StoreKind.planning)
    func `A partial index serves fetches whose predicate implies its own`(kind: StoreKind) throws {
        let stack = try stack(kind) { sample in
            let properties = sample.propertiesByName
            return [
                Self.index("old", [(properties["name"]!, true)], where: "age >= 50"),
                Self.index("odd", [(properties["id"]!, true)], where: "bits & 1 = 1 AND name != nil"),
            ]
        }
        func access(_ format: String) throws -> FetchPlan.Access { try explain(stack, format).parts[0].access }
        let name = "name = 'Name2'"
        for implied in ["age >= 50", "age > 55", "age = 52", "age IN {50, 59}", "age BETWEEN {51, 60}", "age = 59"] {
            #expect(try access("\(implied) AND \(name)") == .index("index:old"), "\(implied)")
        }
        for open in ["age >= 49", "age != 3", "age < 60", "age = nil", "age IN {49, 50}", "NOT (age < 50)", "bits > 50"] {
            #expect(try access("\(open) AND \(name)") == .scan, "\(open)")
        }
        #expect(try access("bits & 1 = 1 AND name BEGINSWITH 'Name' AND id = 'i7'") == .index("index:odd"))
        #expect(try access("bits & 1 = 1 AND id = 'i7'") == .scan)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Sample")
        request.predicate = NSPredicate(format: "age >= 50 AND name = 'Name2'")
        let before = try stack.context.count(for: request)
        #expect(stack.context.lastQuery.rowsVisited == 0 && stack.context.lastQuery.entriesCounted == before)
        // Rows enter the index and leave it.
        let (inside, outside) = (
            try stack.fetch("Sample", "age >= 50 AND name = 'Name2'")[0], try stack.fetch("Sample", "age < 10 AND name = 'Name2'")[0])
        inside.setValue(1, forKey: "age")
        outside.setValue(58, forKey: "age")
        stack.insert("Sample", ["age": 51, "name": "Name2"])
        try stack.context.save()
        #expect(try stack.context.count(for: request) == before + 1 && stack.context.lastQuery.rowsVisited == 0)
        #expect(try stack.fetch("Sample", "age >= 50 AND name = 'Name2'").contains(outside))
    }

    @Test
    func `An index that cannot be built is reported`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        var small = StoreOptions()
        small.segmentShift = 16
        try LogStore.open(path: url.path, options: small).close()
        let first = try stack(.recordLog, at: url) { _ in [] }
        #expect(first.store.indexingError == nil)
        // Longer than an index key may be with segments of this size.
        let odd = first.insert("Sample", ["name": String(repeating: "x", count: 20_000)])
        try first.context.save()
        let uri = odd.objectID.uriRepresentation()
        try first.coordinator.remove(first.store)
        let byName = { (sample: NSEntityDescription) in [Self.index("byName", [(sample.propertiesByName["name"]!, true)])] }
        let second = try stack(.recordLog, at: url, byName)
        let error = try #require(second.persistentStore.indexingError as NSError?)
        #expect(error.domain == NSCocoaErrorDomain && error.userInfo[NSFilePathErrorKey] as? String == second.store.log?.path)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .tooLarge)
        #expect(try explain(second, "name = 'Name7'").parts[0].access == .scan)
        // Once the row is gone the next opening builds the index.
        let id = try #require(second.coordinator.managedObjectID(forURIRepresentation: uri))
        second.context.delete(try second.context.existingObject(with: id))
        try second.context.save()
        try second.coordinator.remove(second.store)
        let third = try stack(.recordLog, at: url, byName)
        #expect(third.persistentStore.indexingError == nil)
        #expect(try explain(third, "name = 'Name7'").parts[0].access == .index("index:byName"))
    }

    /// The rows and the results stay as they are.
    @Test
    func `A store gets the indexes that its model has gained`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        let first = try stack(.recordLog, at: url) { [Self.index("byAge", [($0.propertiesByName["age"]!, true)])] }
        #expect(try explain(first, "age = 7").parts[0].access == .index("index:byAge"))
        try first.coordinator.remove(first.store)
        let before = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
        // byAge has changed, bits is indexed too, and there is a partial index.
        let second = try stack(.recordLog, at: url) { sample in
            let properties = sample.propertiesByName
            return [
                Self.index(
                    "byAge", [(properties["age"]!, false), (properties["bits"]!, true)]), Self.index("byBits", [(properties["bits"]!, true)]),
                Self.index("named", [(Self.expression("lowercase(name)", .stringAttributeType), true)], where: "age > 30"),
            ]
        }
        #expect(second.store.log!.statistics.framesAppended <= 30)
        #expect(try explain(second, "age = 7", [("bits", true)], limit: 2).parts.allSatisfy(\.isOrderedByIndex))
        #expect(try explain(second, "bits = 7").parts[0].access == .index("index:byBits"))
        #expect(try explain(second, "age > 30 AND lowercase(name) = 'name7'").parts[0].access == .index("index:named"))
        second.insert("Sample", ["id": "new", "bits": 7, "age": 33, "name": "NAME7"])
        try second.context.save()
        #expect(try explain(second, "bits = 7").rowsMatched == 11)
        try second.store.log!.checkpoint()
        try second.coordinator.remove(second.store)
        #expect(try StoredModel.read(at: url).entitiesByName["Sample"]?.indexes.map(\.name) == ["byAge", "byBits", "named"])
        // A model without the indexes removes them; a read-only store works without them.
        let third = try stack(.recordLog, at: url) { _ in [] }
        #expect(third.store.log!.snapshot().catalog.indexes.allSatisfy { !$0.name.hasPrefix("index:") })
        #expect(try explain(third, "bits = 7").parts[0].access == .scan)
        #expect(before > 0)
    }

    @Test
    func `A model file states every shape of index`() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Thing">
              <attribute name="n" optional="YES" attributeType="Integer 32"/><attribute name="title" optional="YES" attributeType="String"/>
              <fetchIndex name="mixed" partialIndexPredicate="n &gt; 3 AND title != nil">
                <fetchIndexElement property="n" type="Binary" order="descending"/>
                <fetchIndexElement expression="lowercase:(title)" expressionType="String" type="Binary" order="ascending"/>
              </fetchIndex>
              <fetchIndex name="place"><fetchIndexElement property="n" type="RTree" order="ascending"/></fetchIndex>
            </entity></model>
            """
        let model = try ModelBuilder(try ModelFileParser(data: Data(text.utf8), path: "m").parse()).build(into: nil)
        for model in [model, try #require(model.copy() as? NSManagedObjectModel)] {
            let indexes = try #require(model.entitiesByName["Thing"]?.indexes)
            #expect(indexes.map(\.name) == ["mixed", "place"] && indexes[0].entity === model.entitiesByName["Thing"])
            #expect(indexes[0].partialIndexPredicate?.predicateFormat == "n > 3 AND title != nil")
            #expect(indexes[0].elements.map(\.isAscending) == [false, true] && indexes[0].elements[0].propertyName == "n")
            let computed = try #require(indexes[0].elements[1].property as? NSExpressionDescription)
            #expect(computed.expressionResultType == .stringAttributeType && indexes[0].elements[1].indexDescription === indexes[0])
            #expect(indexes[1].elements[0].collationType == .rTree)
        }
        for (wrong, said) in [("n &gt; 3 AND title", "predicate"), ("lowercase:(title", "expression")] {
            let broken = text.replacingOccurrences(of: wrong, with: "(((")
            let error = #expect(throws: (any Error).self) {
                try ModelBuilder(try ModelFileParser(data: Data(broken.utf8), path: "m").parse()).build(into: nil)
            }
            let text = (error as? NSError)?.localizedDescription ?? ""
            #expect(text.contains("the index Thing.mixed has a") && text.contains(said), "\(text)")
        }
        let stack = try TestStack(.inMemory, model: model)
        for number in 0..<100 { stack.insert("Thing", ["n": number, "title": "T\(number % 10)"]) }
        try stack.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
        request.predicate = NSPredicate(format: "n > 3 AND title != nil AND n = 17 AND lowercase(title) = 't7'")
        let plan = try stack.context.explain(request)
        #expect(plan.parts[0].access == .index("index:mixed") && plan.rowsVisited == 1)
    }
}
