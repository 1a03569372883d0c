import Foundation
import Testing

@_spi(GeneratedCode) @testable import Heartwood

@Suite struct CompositeTests {
    private static func stack(_ kind: StoreKind) throws -> TestStack {
        try TestStack(kind, model: try ModelTests.load("""
            <entity name="Home">
              <attribute name="name" optional="YES" attributeType="String"/>
              <attribute name="address" optional="YES" attributeType="Composite" composite="Address"/>
              <attribute name="origin" attributeType="Composite" composite="Place"/>
              <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner" inverseName="homes" inverseEntity="Owner"/>
            </entity>
            <entity name="Villa" parentEntity="Home"><attribute name="rooms" optional="YES" attributeType="Integer 16"/></entity>
            <entity name="Owner">
              <attribute name="name" optional="YES" attributeType="String"/>
              <relationship name="homes" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Home" inverseName="owner" inverseEntity="Home"/>
            </entity>
            <composite name="Address">
              <attribute name="city" attributeType="String"/>
              <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            </composite>
            <composite name="Place">
              <attribute name="x" attributeType="Double" defaultValueString="0" maxValueString="180"/>
              <attribute name="y" optional="YES" attributeType="Double"/>
            </composite>
            """))
    }

    private static func names(
        _ stack: TestStack, _ format: String?, _ arguments: [Any] = [], sort: String = "name", ascending: Bool = true
    ) throws -> [String] {
        try stack.fetch("Home", format, arguments, sort: [NSSortDescriptor(key: sort, ascending: ascending)]).map {
            $0.value(forKey: "name") as? String ?? ""
        }
    }

    /// A superentity that becomes immutable makes its subentities so. An entity that the model listed before it then made its elements a second
    /// time, so its subentities had other ones, and a store of Core Data's was refused for want of columns.
    @Test
    func `Entities share the elements of an inherited composite, wherever the model lists the superentity`() throws {
        let place = NSCompositeAttributeDescription(), x = NSAttributeDescription()
        (place.name, x.name, x.attributeType) = ("place", "x", .doubleAttributeType)
        place.elements = [x]
        let (root, middle, leaf) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (root.name, middle.name, leaf.name) = ("Root", "Middle", "Leaf")
        root.subentities = [middle]
        middle.subentities = [leaf]
        middle.properties = [place]
        let model = NSManagedObjectModel()
        model.entities = [middle, leaf, root]
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect(middle.propertiesByIndex.map(\.name) == ["place", "place.x"])
        #expect(zip(middle.propertiesByIndex, leaf.propertiesByIndex).allSatisfy { $0 === $1 })
        #expect(leaf.owner(of: leaf.propertiesByIndex[1]) === middle)
    }

    @Test(arguments: StoreKind.allCases)
    func `A composite is a dictionary and each element is a key path`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let home = stack.insert("Home", ["name": "A", "address": ["city": "Rome", "place": ["x": 12.5]]])
        #expect(home.value(forKeyPath: "address.city") as? String == "Rome")
        #expect(home.value(forKeyPath: "address.place.x") as? Double == 12.5)
        home.setValue("Ostia", forKeyPath: "address.city")
        stack.insert("Villa", ["name": "B", "rooms": 4, "origin": ["x": 3.0, "y": 4.0]])
        #expect(home.changedValues()["address"] is [String: Any] && home.changedValues()["address.city"] == nil)
        try stack.context.save()
        #expect(!home.hasChanges && home.entity.attributesByName.keys.sorted() == ["address", "name", "origin"])
        stack.context.reset()
        let again = try #require(try stack.fetch("Home", "name == 'A'").first)
        let address = try #require(again.value(forKey: "address") as? [String: Any])
        #expect(address["city"] as? String == "Ostia" && (address["place"] as? [String: Any])?["x"] as? Double == 12.5)
        #expect(address.count == 2 && (address["place"] as? [String: Any])?.count == 1)
        let other = try #require(try stack.fetch("Villa").first)
        #expect((other.value(forKey: "origin") as? [String: Any])?["y"] as? Double == 4)
        #expect((other.value(forKey: "address") as? [String: Any])?["city"] == nil)
        #expect(other.committedValues(forKeys: ["origin"])["origin"] is [String: Any])
        again.setValue(nil, forKey: "address")
        #expect(again.value(forKey: "address") == nil && again.hasChanges)
        try stack.context.save()
        #expect(try Self.names(stack, "address.city == nil") == ["A", "B"])
    }

    @Test(arguments: StoreKind.planning)
    func `Fetches compare and sort by elements`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let owner = stack.insert("Owner", ["name": "O"])
        for (index, city) in ["Rome", "Athens", "Oslo"].enumerated() {
            stack.insert("Home", ["name": "\(index)", "address": ["city": city, "place": ["x": Double(index), "y": 1.0]], "owner": owner])
        }
        func check(_ state: Comment) throws {
            #expect(try Self.names(stack, "address.city == 'Athens'") == ["1"], state)
            #expect(try Self.names(stack, "address.city BEGINSWITH[c] 'o' OR address.place.x < 1") == ["0", "2"], state)
            #expect(try Self.names(stack, nil, sort: "address.city") == ["1", "2", "0"], state)
            #expect(try Self.names(stack, nil, sort: "address.place.x", ascending: false) == ["2", "1", "0"], state)
            #expect(try stack.fetch("Owner", "ANY homes.address.city == 'Oslo'").count == 1, state)
            #expect(try stack.fetch("Owner", "SUBQUERY(homes, $h, $h.address.city IN {'Oslo', 'Rome'}).@count == 2").count == 1, state)
            #expect(try stack.fetch("Owner", "homes.@max.address.place.x == 2").count == 1, state)
        }
        try check("not saved")
        try stack.context.save()
        try check("saved")
        let visited = try Self.names(stack, "address.city == 'Oslo'")
        #expect(visited == ["2"] && stack.context.lastQueryDescription.contains("1 matched"), "on rows, without objects")
        #expect(throws: (any Error).self) { try Self.names(stack, "address.street == 'x'") }
        #expect(throws: (any Error).self) { try Self.names(stack, nil, sort: "address") }
    }

    @Test(arguments: StoreKind.allCases)
    func `Elements are validated if the composite is required`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let home = stack.insert("Home", ["name": "A"])
        // The address is optional, so its required city may be missing; the default of x stays.
        try stack.context.save()
        #expect((home.value(forKey: "origin") as? [String: Any])?["x"] as? Double == 0)
        home.setValue(["y": 1.0], forKey: "origin")
        let missing = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(missing?.code == NSValidationMissingMandatoryPropertyError)
        home.setValue(["x": 181.0], forKey: "origin")
        let tooLarge = #expect(throws: (any Error).self) { try stack.context.save() } as? NSError
        #expect(tooLarge?.code == NSValidationNumberTooLargeError)
        home.setValue(["x": 180.0], forKey: "origin")
        try stack.context.save()
    }

    @Test(arguments: StoreKind.batching)
    func `Batch requests may name elements`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let rows: [[String: Any]] = [["name": "A", "address.city": "Rome"], ["name": "B", "address.place.x": 5.0]]
        _ = try stack.context.execute(NSBatchInsertRequest(entityName: "Home", objects: rows))
        #expect(try Self.names(stack, "address.city == 'Rome' OR address.place.x == 5") == ["A", "B"])
        let update = NSBatchUpdateRequest(entityName: "Home")
        update.predicate = NSPredicate(format: "address.city == 'Rome'")
        update.propertiesToUpdate = ["address.city": "Oslo"]
        _ = try stack.context.execute(update)
        #expect(try Self.names(stack, "address.city == 'Oslo'") == ["A"])
        let whole = NSBatchInsertRequest(entityName: "Home", objects: [["name": "C", "address": ["city": "Rome"]]])
        let error = #expect(throws: (any Error).self) { try stack.context.execute(whole) } as? NSError
        #expect(error?.localizedDescription.contains("key paths") == true)
        #expect(try Self.names(stack, nil) == ["A", "B"])
    }

    @Test
    func `Undo, children and merges treat elements as attributes`() throws {
        let stack = try Self.stack(.recordLog)
        let home = stack.insert("Home", ["name": "A", "address": ["city": "Rome"]])
        try stack.context.save()
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = stack.context
        let inner = try child.existingObject(with: home.objectID)
        inner.setValue("Oslo", forKeyPath: "address.city")
        try child.save()
        #expect(home.value(forKeyPath: "address.city") as? String == "Oslo")
        stack.context.rollback()
        #expect(home.value(forKeyPath: "address.city") as? String == "Rome")
    }

    @Test(arguments: StoreKind.allCases)
    func `Dictionaries are fetched, grouped and filtered by elements`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        for (name, city, x) in [("A", "Rome", 1.0), ("B", "Oslo", 2.0), ("C", "Rome", 4.0), ("D", "Bonn", 0.5)] {
            stack.insert("Home", ["name": name, "address": ["city": city, "place": ["x": x]]])
        }
        try stack.context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Home")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "address.city"]
        request.sortDescriptors = [NSSortDescriptor(key: "address.city", ascending: true), NSSortDescriptor(key: "name", ascending: true)]
        let plain = try stack.context.fetch(request)
        #expect(plain.map { $0["name"] as? String } == ["D", "B", "A", "C"] && plain[0]["address.city"] as? String == "Bonn")
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(format: "sum:(address.place.x)")
        sum.expressionResultType = .doubleAttributeType
        request.propertiesToFetch = ["address.city", sum]
        request.propertiesToGroupBy = ["address.city"]
        request.havingPredicate = NSPredicate(format: "max:(address.place.x) > 1")
        request.sortDescriptors = [NSSortDescriptor(key: "address.city", ascending: false)]
        let groups = try stack.context.fetch(request)
        #expect(groups.map { $0["address.city"] as? String } == ["Rome", "Oslo"] && groups.map { $0["sum"] as? Double } == [5, 2])
        let all = NSFetchRequest<NSDictionary>(entityName: "Home")
        all.resultType = .dictionaryResultType
        all.predicate = NSPredicate(format: "name == 'B'")
        let keys = try #require(try stack.context.fetch(all).first).allKeys.compactMap { $0 as? String }
        #expect(keys.sorted() == ["address.city", "address.place.x", "name", "origin.x"])
    }

    @Test(arguments: StoreKind.allCases)
    func `A composite is null if no element has a value`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let owner = stack.insert("Owner", ["name": "O"])
        stack.insert("Home", ["name": "A", "address": ["city": "Rome"], "owner": owner])
        stack.insert("Home", ["name": "B", "address": ["place": ["x": 1.0]], "owner": owner])
        stack.insert("Villa", ["name": "C", "address": NSNull(), "owner": owner])
        let rows = [
            ("address == nil", ["C"]), ("address != nil", ["A", "B"]), ("nil == address", ["C"]), ("address.place == nil", ["A", "C"]),
            ("address IN {nil}", ["C"]), ("address < nil", []), ("NOT address == nil AND name != 'A'", ["B"]), ("origin == nil", []),
        ]
        for state in ["not saved", "saved"] as [Comment] {
            if state == "saved" { try stack.context.save() }
            let all = try stack.fetch("Home", sort: [NSSortDescriptor(key: "name", ascending: true)])
            for (format, expected) in rows {
                let predicate = NSPredicate(format: format)
                #expect(all.filter { predicate.evaluate(with: $0) }.map { $0.value(forKey: "name") as? String } == expected, "\(format)")
                #expect(try Self.names(stack, format) == expected, "\(format), \(state)")
            }
            #expect(try Self.names(stack, "address == %@", [["city": "Rome"]]) == ["A"], state)
            #expect(try Self.names(stack, "address != %@", [["city": "Rome"]]) == ["B", "C"], state)
            #expect(try stack.fetch("Owner", "ANY homes.address == nil").count == 1, state)
            #expect(try stack.fetch("Owner", "SUBQUERY(homes, $h, $h.address != nil).@count == 2").count == 1, state)
        }
    }

    @Test(arguments: StoreKind.planning)
    func `A subquery asks the right object's elements`(kind: StoreKind) throws {
        let model = NSManagedObjectModel(), home = NSEntityDescription(), resident = NSEntityDescription()
        (home.name, resident.name) = ("Home", "Resident")
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = [TestStack.attribute("street", .stringAttributeType), TestStack.attribute("city", .stringAttributeType)]
        let homes = TestStack.relationship("homes", to: home, toMany: true), owner = TestStack.relationship("owner", to: resident, toMany: false)
        TestStack.connect(homes, owner)
        home.properties = [address, owner]
        // The other entity has an attribute of this name that is not a composite.
        resident.properties = [TestStack.attribute("address", .stringAttributeType), homes]
        model.entities = [home, resident]
        let stack = try TestStack(kind, model: model)
        stack.insert("Home", ["address": ["city": "Rome"], "owner": stack.insert("Resident", ["address": "by mail"])])
        try stack.context.save()
        for format in [
            "SUBQUERY(homes, $h, $h.address.city == 'Rome').@count == 1", "SUBQUERY(homes, $h, $h.address.street == nil).@count == 1",
            "SUBQUERY(homes, $h, $h.owner.address == 'by mail' AND $h.address.city == 'Rome').@count == 1",
            "SUBQUERY(homes, $h, SUBQUERY($h.owner.homes, $i, $i.address.city == $h.address.city).@count == 1).@count == 1",
            "homes[0].address.city == 'Rome'", "ANY SUBQUERY(homes, $h, $h.address != nil).address.city == 'Rome'",
        ] {
            #expect(try stack.fetch("Resident", format, in: stack.anew()).count == 1, "\(format)")
        }
        #expect(throws: (any Error).self) { try stack.fetch("Resident", "SUBQUERY(homes, $h, $h.address.shoe == 'x').@count == 1") }
    }

    @Test(arguments: StoreKind.batching)
    func `A batch update computes with elements`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        stack.insert("Home", ["name": "A", "address": ["city": "Rome", "place": ["x": 2.0]]])
        try stack.context.save()
        _ = try stack.updateBatch("Home", nil, [
            "address.city": NSExpression(format: "uppercase(address.city)"), "name": NSExpression(format: "lowercase(address.city)"),
            "address.place.y": NSExpression(format: "address.place.x + 1"),
        ])
        #expect(try stack.fetch("Home", "address.city == 'ROME' AND name == 'rome' AND address.place.y == 3", in: stack.anew()).count == 1)
    }

    @Test(arguments: [StoreKind.recordLog, .inMemory])
    func `Indexes may be over expressions of elements`(kind: StoreKind) throws {
        func lower(_ path: String) -> NSExpressionDescription {
            let description = NSExpressionDescription()
            (description.expression, description.expressionResultType) = (NSExpression(format: "lowercase(\(path))"), .stringAttributeType)
            return description
        }
        func model() -> NSManagedObjectModel {
            let model = NSManagedObjectModel(), home = NSEntityDescription()
            home.name = "Home"
            let address = NSCompositeAttributeDescription(), place = NSCompositeAttributeDescription()
            (address.name, place.name) = ("address", "place")
            place.elements = [TestStack.attribute("number", .integer32AttributeType)]
            address.elements = [TestStack.attribute("city", .stringAttributeType), place]
            let name = TestStack.attribute("name", .stringAttributeType), partial = TestStack.index("numbered", [name])
            partial.partialIndexPredicate = NSPredicate(format: "address.place.number > 3")
            home.properties = [name, address]
            home.indexes = [TestStack.index("lowerCity", [lower("address.city")]), partial]
            model.entities = [home]
            return model
        }
        let stack = try TestStack(kind, model: model())
        for number in 0..<400 {
            stack.insert("Home", ["name": "h\(number)", "address": ["city": "C\(number)", "place": ["number": number % 10]]])
        }
        try stack.context.save()
        func check(_ stack: TestStack, _ rows: [(String, String, Int)]) throws {
            for (format, index, count) in rows {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Home")
                request.predicate = NSPredicate(format: format)
                let plan = try stack.context.explain(request)
                #expect(plan.parts[0].access == .index("index:\(index)") && plan.rowsMatched == count, "\(format): \(plan)")
            }
        }
        try check(stack, [
            ("lowercase(address.city) == 'c7'", "lowerCity", 1), ("address.place.number > 3 AND name == 'h7'", "numbered", 1),
            ("address.place.number > 5 AND name == 'h7'", "numbered", 1), ("address.place.number > 3 AND name == 'h2'", "numbered", 0),
        ])
        try stack.fetch("Home", "name == 'h7'")[0].setValue(["city": "Rome", "place": ["number": 1]], forKey: "address")
        try stack.fetch("Home", "name == 'h2'")[0].setValue(["city": "Oslo", "place": ["number": 9]], forKey: "address")
        try stack.context.save()
        let again = kind.isFile ? try TestStack(kind, model: model(), at: stack.url) : stack
        try check(again, [
            ("lowercase(address.city) == 'c7'", "lowerCity", 0), ("lowercase(address.city) == 'rome'", "lowerCity", 1),
            ("address.place.number > 3 AND name == 'h7'", "numbered", 0), ("address.place.number > 3 AND name == 'h2'", "numbered", 1),
        ])
    }

    @Test(arguments: StoreKind.allCases)
    func `Generated accessors read and write a composite`(kind: StoreKind) throws {
        let stack = try Self.stack(kind)
        let home = stack.insert("Home", ["name": "a", "origin": ["x": 1, "y": 2]])
        let index = try #require(home.entity.propertyIndexByName["address"])
        #expect(home.managedAttribute(at: index) as? NSDictionary == home.value(forKey: "address") as? NSDictionary)
        home.setManagedAttribute(["city": "Rome"] as [String: Any]?, at: index)
        #expect(home.value(forKeyPath: "address.city") as? String == "Rome")
        try stack.context.save()
        let again = try #require(try stack.fetch("Home", "address.city == 'Rome'", in: stack.anew()).first)
        #expect((again.managedAttribute(at: index) as? [String: Any])?["city"] as? String == "Rome")
        again.setManagedAttribute(nil as [String: Any]?, at: index)
        #expect(again.value(forKey: "address") == nil && again.changedValues().keys.contains("address"))
    }
}
