import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// Stores texts backwards as data, and turns "nothing" into nil.
final class Backwards: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        guard let text = value as? String, text != "nothing" else { return nil }
        return Data(String(text.reversed()).utf8)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }

    static let name: String = {
        ValueTransformer.setValueTransformer(Backwards(), forName: NSValueTransformerName("BackwardsForTests"))
        return "BackwardsForTests"
    }()
}

@MainActor struct SpecialPropertyQuestions {
    /// Only SQLite stores have derived attributes on Apple's platforms.
    private func derived(_ format: String, _ type: NSAttributeType) throws -> Stack {
        let attribute = NSDerivedAttributeDescription()
        (attribute.name, attribute.attributeType) = ("derived", type)
        attribute.derivationExpression = NSExpression(format: format)
        let team = Sketch.entity("Team", [Sketch.attribute("name"), attribute])
        let member = Sketch.entity("Member", [Sketch.attribute("goals", .integer32AttributeType)])
        Sketch.pair(Sketch.relationship(team, "members", .many, to: member), Sketch.relationship(member, "team", .one, to: team))
        return try Stack(.database, Sketch.model(team, member))
    }

    @Test(
        .reference("nsderivedattributedescription/derivationexpression"),
        arguments: [("canonical:(name)", "ete"), ("uppercase:(name)", "ÉTÉ"), ("lowercase:(name)", "été")])
    func `A text is derived without case and accents, in capitals or in small letters`(format: String, value: String) throws {
        let stack = try derived(format, .stringAttributeType)
        try stack.saved("Team", ["name": "Été"])
        #expect(try stack.only("Team", in: stack.sibling()).text("derived") == value)
    }

    @Test(.reference("nsderivedattributedescription/derivationexpression"), arguments: [("members.@count", 2), ("members.@sum.goals", 7)])
    func `Members are counted and summed up`(format: String, value: Int) throws {
        let stack = try derived(format, .integer64AttributeType), team = stack.new("Team")
        for goals in [3, 4] { stack.new("Member", ["team": team, "goals": goals]) }
        try stack.context.save()
        #expect(try stack.only("Team", in: stack.sibling()).int("derived") == value)
    }

    @Test(.reference("nsderivedattributedescription/derivationexpression"))
    func `now() is the time of the save`() throws {
        let stack = try derived("now()", .dateAttributeType)
        try stack.saved("Team")
        let date = try #require(try stack.only("Team", in: stack.sibling()).value(forKey: "derived") as? Date)
        #expect(abs(date.timeIntervalSinceNow) < 60)
    }

    @Test(.header("NSDerivedAttributeDescription", "recomputed during save"))
    func `A derived value is what it was until the save, and is there after it`() throws {
        let stack = try derived("canonical:(name)", .stringAttributeType), team = stack.new("Team", ["name": "A"])
        #expect(team.value(forKey: "derived") == nil)
        try stack.context.save()
        #expect(team.text("derived") == "a")
        team.setValue("B", forKey: "name")
        #expect(team.text("derived") == "a")
        try stack.context.save()
        #expect(team.text("derived") == "b")
    }

    @Test(.header("NSDerivedAttributeDescription", "optimizes fetches"))
    func `A derived attribute can be fetched by`() throws {
        let stack = try derived("canonical:(name)", .stringAttributeType)
        try stack.saved("Team", ["name": "Été"])
        #expect(try stack.count("Team", "derived BEGINSWITH 'et'", in: stack.sibling()) == 1)
    }

    @Test(.header("NSDerivedAttributeDescription", "the add will fail"))
    func `A store is not added where it does not support a derivation`() {
        #expect(failure { _ = try derived("members.@avg.goals", .doubleAttributeType) }?.domain == NSCocoaErrorDomain)
    }

    private func composite(_ kind: StoreKind) throws -> Stack {
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [Sketch.attribute("street"), Sketch.attribute("number", .integer32AttributeType)]
        return try Stack(kind, Sketch.items([place]))
    }

    @Test(.wwdc(2023, 10186, "Composite attributes"))
    func `A composite attribute's value is a dictionary`() throws {
        let stack = try composite(.database)
        try stack.saved("Item", ["place": ["street": "High", "number": 3] as [String: Any]])
        let value = try #require(try stack.only("Item", in: stack.sibling()).value(forKey: "place") as? [String: Any])
        #expect(value["street"] as? String == "High" && value["number"] as? Int == 3)
    }

    @Test(.wwdc(2023, 10186, "Composite attributes"))
    func `A predicate reaches into a composite attribute by a key path`() throws {
        let stack = try composite(.database)
        try stack.saved("Item", ["place": ["street": "High", "number": 3] as [String: Any]])
        try stack.saved("Item", ["place": ["street": "Low", "number": 4] as [String: Any]])
        #expect(try stack.count("Item", "place.street == 'High'", in: stack.sibling()) == 1)
    }

    private func transformable(_ kind: StoreKind, _ name: String?) throws -> Stack {
        let attribute = Sketch.attribute("what", .transformableAttributeType)
        attribute.valueTransformerName = name
        return try Stack(kind, Sketch.items([attribute]))
    }

    @Test(.reference("nsattributedescription/valuetransformername"), arguments: StoreKind.allCases)
    func `A registered transformer makes a transformable attribute's data, and the value again`(kind: StoreKind) throws {
        let stack = try transformable(kind, Backwards.name)
        try stack.saved("Item", ["what": "abc"])
        #expect(try stack.only("Item", in: stack.sibling()).text("what") == "abc")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A7)"))
    func `A transformer that gives nil saves nil`() throws {
        let stack = try transformable(.database, Backwards.name)
        stack.new("Item", ["what": "nothing"])
        let error = failure { try stack.context.save() }
        #expect(error == nil)
    }

    @Test(.source("ValueTransformer init(forName:): a transformer of the class of that name is made"))
    func `A transformer is found by its class's name`() throws {
        let name = NSStringFromClass(Backwards.self), stack = try transformable(.database, name)
        stack.new("Item", ["what": "abc"])
        let error = failure { try stack.context.save() }
        #expect(error == nil)
    }

    @Test(.source("ValueTransformer init(forName:), NSSecureUnarchiveFromDataTransformer (parity A6)"))
    func `Foundation's transformer is found by its class's name`() throws {
        let stack = try transformable(.database, "NSSecureUnarchiveFromDataTransformer")
        stack.new("Item", ["what": ["a"] as NSArray])
        let error = failure { try stack.context.save() }
        #expect(error == nil)
    }

    /// Authors with a fetched property that finds the books by their name.
    private func fetchedProperty(_ kind: StoreKind, _ format: String) throws -> Stack {
        let author = Sketch.entity("Author", [Sketch.attribute("name")])
        let book = Sketch.entity("Book", [Sketch.attribute("by"), Sketch.attribute("title")])
        let property = NSFetchedPropertyDescription(), request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = book
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        (property.name, property.fetchRequest) = ("books", request)
        author.properties += [property]
        let stack = try Stack(kind, Sketch.model(author, book))
        for title in ["b", "a"] { stack.new("Book", ["by": "Ada", "title": title]) }
        stack.new("Book", ["by": "Bob", "title": "c"])
        stack.new("Author", ["name": "Ada"])
        try stack.context.save()
        return stack
    }

    private func titles(_ object: NSManagedObject) -> [String?] {
        (object.value(forKey: "books") as? [NSManagedObject] ?? []).map { $0.text("title") }
    }

    @Test(.header("NSFetchedPropertyDescription", "fetchRequest"), arguments: StoreKind.allCases)
    func `A fetched property is an array in its request's order, of what $FETCH_SOURCE leads to`(kind: StoreKind) throws {
        let stack = try fetchedProperty(kind, "by == $FETCH_SOURCE.name")
        #expect(titles(try stack.only("Author", in: stack.sibling())) == ["a", "b"])
    }

    @Test(.guide("Creating Managed Object Relationships", "Weak Relationships (Fetched Properties)"), arguments: StoreKind.allCases)
    func `A fetched property keeps what it has fetched until the object is refreshed`(kind: StoreKind) throws {
        let stack = try fetchedProperty(kind, "by == $FETCH_SOURCE.name"), author = try stack.only("Author", in: stack.context)
        #expect(titles(author).count == 2)
        stack.new("Book", ["by": "Ada", "title": "d"])
        try stack.context.save()
        #expect(titles(author).count == 2)
        stack.context.refresh(author, mergeChanges: false)
        #expect(titles(author).count == 3)
    }

    @Test(.reference("nsattributedescription/allowsexternalbinarydatastorage"), arguments: StoreKind.allCases)
    func `A large value that is stored beside the store comes back`(kind: StoreKind) throws {
        let data = Sketch.attribute("data", .binaryDataAttributeType), bytes = Data(repeating: 7, count: 300_000)
        data.allowsExternalBinaryDataStorage = true
        let stack = try Stack(kind, Sketch.items([data]))
        try stack.saved("Item", ["data": bytes])
        #expect(try stack.only("Item", in: stack.sibling()).value(forKey: "data") as? Data == bytes)
    }
}
