import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Each change that Core Data documents as lightweight, and the resulting content. Both ways must agree: through objects into a new file, and a
/// store type's migration in its own file.
@Suite struct LightweightMigrationTests {
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let before: String
        let after: String
        let lines: [String]
        let fill: @Sendable (NSManagedObjectContext) -> Void

        init(
            _ name: String, _ before: String, _ after: String, _ lines: [String], _ fill: @escaping @Sendable (NSManagedObjectContext) -> Void
        ) {
            testDescription = name
            self.before = before
            self.after = after
            self.lines = lines
            self.fill = fill
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary], changes)
    func `A documented change keeps everything else`(kind: StoreKind, change: Change) throws {
        let chain = try Chain(kind)
        try chain.with(Sketch(change.before)) { change.fill($0) }
        let identifier = try chain.metadata()[NSStoreUUIDKey] as? String
        #expect(throws: (any Error).self, "nothing is migrated unasked") { try chain.with(Sketch(change.after), options: nil) { _ in } }
        try chain.with(Sketch(change.after)) { context in
            let lines = try context.lines()
            #expect(lines == change.lines.sorted(), "\(kind.rawValue)")
            // Both sides of relationships exist, and the store is usable.
            for entity in context.persistentStoreCoordinator!.managedObjectModel.entities where !entity.isAbstract {
                _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name!))
            }
        }
        #expect(chain.scratch.names == ["store"])
        #expect(try chain.metadata()[NSStoreUUIDKey] as? String == identifier)
        let model = Sketch(change.after).model
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: try chain.metadata()))
        // Once migrated it opens like any other store.
        #expect(try chain.lines(Sketch(change.after), options: nil) == change.lines.sorted())
        if kind == .recordLog { #expect(try StoreVerification.verify(path: chain.url.path).isSound) }
    }

    private static func people(_ context: NSManagedObjectContext) {
        let ann = context.make("Person", ["name": "Ann", "age": 30]), bob = context.make("Person", ["name": "Bob"])
        let group = context.make("Group", ["name": "Readers"])
        ann.setValue(group, forKey: "group")
        bob.setValue(group, forKey: "group")
        context.make("Person", ["name": "Cy", "age": 7])
    }

    private static let people = """
        Person: name:string age:int32 group>Group/people
        Group: name:string people>>Person/group
        """

    static let changes: [Change] = [
        Change("an attribute is added", people, """
            Person: name:string age:int32 email:string group>Group/people
            Group: name:string people>>Person/group size:int32!=5
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"] size=5", "Person: age=30 email=nil group=Readers name=Ann",
                "Person: age=nil email=nil group=Readers name=Bob", "Person: age=7 email=nil group=- name=Cy",
            ]) { people($0) },
        Change("an attribute is removed", people, """
            Person: name:string group>Group/people
            Group: name:string people>>Person/group
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: group=Readers name=Ann", "Person: group=Readers name=Bob",
                "Person: group=- name=Cy",
            ]) { people($0) },
        Change("an attribute is renamed", people, """
            Person: name:string years:int32~age group>Group/people
            Group: name:string people>>Person/group
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: group=Readers name=Ann years=30",
                "Person: group=Readers name=Bob years=nil", "Person: group=- name=Cy years=7",
            ]) { people($0) },
        Change("two attributes change places", "Person: name:string nick:string", "Person: name:string~nick nick:string~name age:int16",
            ["Person: age=nil name=A nick=Ann", "Person: age=nil name=nil nick=Bob"]) {
            $0.make("Person", ["name": "Ann", "nick": "A"])
            $0.make("Person", ["name": "Bob"])
        },
        Change("an attribute becomes required, with a default", people, """
            Person: name:string age:int32!=-1 group>Group/people
            Group: name:string people>>Person/group
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: age=30 group=Readers name=Ann",
                "Person: age=-1 group=Readers name=Bob", "Person: age=7 group=- name=Cy",
            ]) { people($0) },
        Change("an attribute becomes optional", "Person: name:string age:int32!", "Person: name:string age:int32",
            ["Person: age=1 name=Ann"]) { $0.make("Person", ["name": "Ann", "age": 1]) },
        Change("integers and floating point numbers become wider", "Person: name:string a:int16 b:int32 c:float",
            "Person: name:string a:int64 b:int64 c:double", ["Person: a=-5 b=70000 c=0.5 name=Ann", "Person: a=nil b=nil c=nil name=Bob"]) {
            $0.make("Person", ["name": "Ann", "a": -5, "b": 70_000, "c": 0.5])
            $0.make("Person", ["name": "Bob"])
        },
        Change("integers become narrower, and fit", "Person: name:string a:int64 c:double", "Person: name:string a:int16 c:float",
            ["Person: a=-32768 c=0.25 name=Ann"]) { $0.make("Person", ["name": "Ann", "a": -32_768, "c": 0.25]) },
        Change("an entity is renamed", people, """
            Human~Person: name:string age:int32 group>Group/people
            Group: name:string people>>Human/group
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Human: age=30 group=Readers name=Ann",
                "Human: age=nil group=Readers name=Bob", "Human: age=7 group=- name=Cy",
            ]) { people($0) },
        Change("an entity is added", people, """
            Person: name:string age:int32 group>Group/people
            Group: name:string people>>Person/group
            Tag: name:string people>>Person
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: age=30 group=Readers name=Ann",
                "Person: age=nil group=Readers name=Bob", "Person: age=7 group=- name=Cy",
            ]) { people($0) },
        Change("an entity is removed", people, "Person: name:string age:int32",
            ["Person: age=30 name=Ann", "Person: age=nil name=Bob", "Person: age=7 name=Cy"]) { people($0) },
        Change("a relationship is renamed", people, """
            Person: name:string age:int32 club>Group/members~group
            Group: name:string members>>Person/club~people
            """, [
                "Group: members=[\"Ann\", \"Bob\"] name=Readers", "Person: age=30 club=Readers name=Ann",
                "Person: age=nil club=Readers name=Bob", "Person: age=7 club=- name=Cy",
            ]) { people($0) },
        Change("a relationship is added", people, """
            Person: name:string age:int32 group>Group/people friend>Person
            Group: name:string people>>Person/group guests>>Person
            """, [
                "Group: guests=[] name=Readers people=[\"Ann\", \"Bob\"]", "Person: age=30 friend=- group=Readers name=Ann",
                "Person: age=nil friend=- group=Readers name=Bob", "Person: age=7 friend=- group=- name=Cy",
            ]) { people($0) },
        Change("a relationship is removed, with its inverse", people, "Person: name:string age:int32\nGroup: name:string",
            ["Group: name=Readers", "Person: age=30 name=Ann", "Person: age=nil name=Bob", "Person: age=7 name=Cy"]) { people($0) },
        Change("a relationship to one becomes one to many", people, """
            Person: name:string age:int32 groups>>Group/people~group
            Group: name:string people>>Person/groups
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: age=30 groups=[\"Readers\"] name=Ann",
                "Person: age=nil groups=[\"Readers\"] name=Bob", "Person: age=7 groups=[] name=Cy",
            ]) { people($0) },
        Change("a relationship to many becomes ordered", people, """
            Person: name:string age:int32 group>Group/people
            Group: name:string people>>>Person/group
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: age=30 group=Readers name=Ann",
                "Person: age=nil group=Readers name=Bob", "Person: age=7 group=- name=Cy",
            ]) { people($0) },
        Change("an ordered relationship keeps its order, and another loses it", """
            List: name:string items>>>Item/list others>>>Item
            Item: name:string list>List/items
            """, """
            List: name:string size:int16 items>>>Item/list others>>Item
            Item: name:string list>List/items
            """, [
                "Item: list=L name=a", "Item: list=L name=b", "Item: list=L name=c",
                "List: items=[\"c\", \"a\", \"b\"] name=L others=[\"a\", \"b\"] size=nil",
            ]) { context in
            let items = ["a", "b", "c"].map { context.make("Item", ["name": $0]) }
            let list = context.make("List", ["name": "L"])
            list.setValue(NSOrderedSet(array: [items[2], items[0], items[1]]), forKey: "items")
            list.setValue(NSOrderedSet(array: [items[1], items[0]]), forKey: "others")
        },
        Change("an inverse is added", "Person: name:string group>Group\nGroup: name:string", people.replacingOccurrences(of: " age:int32", with: ""), [
            "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Person: group=Readers name=Ann", "Person: group=Readers name=Bob",
        ]) { context in
            let group = context.make("Group", ["name": "Readers"])
            for name in ["Ann", "Bob"] { context.make("Person", ["name": name]).setValue(group, forKey: "group") }
        },
        Change("an inverse is added to a relationship to many", """
            Person: name:string
            Group: name:string people>>Person
            """, """
            Person: name:string groups>>Group/people
            Group: name:string people>>Person/groups
            """, [
                "Group: name=Readers people=[\"Ann\", \"Bob\"]", "Group: name=Writers people=[\"Bob\"]", "Person: groups=[\"Readers\"] name=Ann",
                "Person: groups=[\"Readers\", \"Writers\"] name=Bob",
            ]) { context in
            let people = ["Ann", "Bob"].map { context.make("Person", ["name": $0]) }
            context.make("Group", ["name": "Readers"]).setValue(Set(people) as NSSet, forKey: "people")
            context.make("Group", ["name": "Writers"]).setValue(Set([people[1]]) as NSSet, forKey: "people")
        },
        Change("an inverse is removed", people.replacingOccurrences(of: " age:int32", with: ""), "Person: name:string group>Group\nGroup: name:string", [
            "Group: name=Readers", "Person: group=Readers name=Ann", "Person: group=Readers name=Bob",
        ]) { context in
            let group = context.make("Group", ["name": "Readers"])
            for name in ["Ann", "Bob"] { context.make("Person", ["name": name]).setValue(group, forKey: "group") }
        },
        Change("many to many stays, renamed on both sides", """
            Person: name:string tags>>Tag/people
            Tag: name:string people>>Person/tags
            """, """
            Person: name:string labels>>Label/persons~tags
            Label~Tag: name:string persons>>Person/labels~people
            """, [
                "Label: name=x persons=[\"Ann\", \"Bob\"]", "Label: name=y persons=[\"Bob\"]", "Person: labels=[\"x\"] name=Ann",
                "Person: labels=[\"x\", \"y\"] name=Bob",
            ]) { context in
            let x = context.make("Tag", ["name": "x"]), y = context.make("Tag", ["name": "y"])
            context.make("Person", ["name": "Ann"]).setValue(Set([x]) as NSSet, forKey: "tags")
            context.make("Person", ["name": "Bob"]).setValue(Set([x, y]) as NSSet, forKey: "tags")
        },
        Change("one to one stays", "Person: name:string partner>Person/partner", "Person: name:string age:int16 partner>Person/partner",
            ["Person: age=nil name=Ann partner=Bob", "Person: age=nil name=Bob partner=Ann", "Person: age=nil name=Cy partner=-"]) { context in
            let people = ["Ann", "Bob", "Cy"].map { context.make("Person", ["name": $0]) }
            people[0].setValue(people[1], forKey: "partner")
        },
        Change("a parent entity is added, and attributes are pulled up", "Cat: name:string age:int32 lives:int16\nDog: name:string age:int32", """
            *Animal: name:string age:int32
            Cat < Animal: lives:int16
            Dog < Animal:
            """, ["Cat: age=3 lives=9 name=Tom", "Dog: age=5 name=Rex"]) {
            $0.make("Cat", ["name": "Tom", "age": 3, "lives": 9])
            $0.make("Dog", ["name": "Rex", "age": 5])
        },
        Change("attributes are pushed down, and the parent goes", """
            *Animal: name:string age:int32
            Cat < Animal: lives:int16
            Dog < Animal:
            """, "Cat: name:string age:int32 lives:int16\nDog: name:string", ["Cat: age=3 lives=9 name=Tom", "Dog: name=Rex"]) {
            $0.make("Cat", ["name": "Tom", "age": 3, "lives": 9])
            $0.make("Dog", ["name": "Rex", "age": 5])
        },
        Change("an entity moves in the hierarchy", """
            *Animal: name:string
            *Pet < Animal: owner:string
            Cat < Animal: lives:int16
            Dog < Pet:
            House: name:string pets>>Animal
            """, """
            *Animal: name:string
            *Pet < Animal: owner:string
            Cat < Pet: lives:int16
            Dog < Animal:
            House: name:string pets>>Animal
            """, ["Cat: lives=9 name=Tom owner=nil", "Dog: name=Rex", "House: name=H pets=[\"Rex\", \"Tom\"]"]) { context in
            let tom = context.make("Cat", ["name": "Tom", "lives": 9]), rex = context.make("Dog", ["name": "Rex", "owner": "Ann"])
            context.make("House", ["name": "H"]).setValue(Set([tom, rex]) as NSSet, forKey: "pets")
        },
        Change("the destination of a relationship becomes the parent", """
            Cat: name:string house>House/cats
            House: name:string cats>>Cat/house
            """, """
            *Animal: name:string house>House/animals
            Cat < Animal: age:int16
            Dog < Animal:
            House: name:string animals>>Animal/house~cats
            """, ["Cat: age=nil house=H name=Tim", "Cat: age=nil house=H name=Tom", "House: animals=[\"Tim\", \"Tom\"] name=H"]) { context in
            let house = context.make("House", ["name": "H"])
            for name in ["Tom", "Tim"] { context.make("Cat", ["name": name]).setValue(house, forKey: "house") }
        },
    ]

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `A store may skip versions`(kind: StoreKind) throws {
        let chain = try Chain(kind)
        let versions: [Sketch] = [
            "Person: name:string age:int16", "Person: title:string~name age:int32", "Human~Person: heading:string~title age:int64 size:double!=1.5",
            "Human: heading:string age:int64 size:double! friend>Human",
        ]
        try chain.with(versions[0]) { $0.make("Person", ["name": "Ann", "age": 3]) }
        for version in versions[1...] { try chain.with(version) { _ in } }
        #expect(try chain.lines(versions[3]) == ["Human: age=3 friend=- heading=Ann size=1.5"])
        // Version 2 uses a name of version 1.
        let other = try Chain(kind)
        try other.with(versions[0]) { $0.make("Person", ["name": "Ann", "age": 3]) }
        #expect(try other.lines(Sketch("Human~Person: heading:string~name age:int64")) == ["Human: age=3 heading=Ann"])
    }

    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Values of every type come along`(kind: StoreKind) throws {
        let all = "string:string int16:int16 int32:int32 int64:int64 double:double float:float bool:bool date:date data:data decimal:decimal uuid:uuid any:any"
        let before = Sketch("Thing: \(all)").model, after = Sketch("Thing: more:string \(all)").model
        for model in [before, after] {
            let large = TestStack.attribute("large", .binaryDataAttributeType)
            large.allowsExternalBinaryDataStorage = true
            let address = NSCompositeAttributeDescription()
            address.name = "address"
            address.elements = [TestStack.attribute("street", .stringAttributeType), TestStack.attribute("number", .integer32AttributeType)]
            model.entities[0].properties += [large, address]
        }
        let chain = try Chain(kind)
        let values: [String: Any] = [
            "string": "ä", "int16": -1, "int32": 2, "int64": Int64.max, "double": 0.1, "float": 0.25, "bool": true,
            "date": Date(timeIntervalSinceReferenceDate: 5.5), "data": Data([0, 1]), "decimal": NSDecimalNumber(string: "1.50"), "uuid": UUID(),
            "any": ["a", "b"] as NSArray, "large": Data(repeating: 7, count: 100_000),
        ]
        try chain.with(before) { context in
            context.make("Thing", values).setValue(["street": "Main", "number": 5], forKey: "address")
            context.make("Thing")
        }
        try chain.with(after) { context in
            let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            let full = try #require(things.first { $0.value(forKey: "string") != nil })
            for (key, value) in values {
                #expect((full.value(forKey: key) as? NSObject) == (AttributeCoding.bridged(value) as? NSObject), "\(key)")
            }
            #expect(full.value(forKeyPath: "address.street") as? String == "Main" && full.value(forKeyPath: "address.number") as? Int == 5)
            let empty = try #require(things.first { $0.value(forKey: "string") == nil })
            for key in values.keys { #expect(empty.value(forKey: key) == nil, "\(key)") }
        }
    }

    /// Versions of a model as files, in a folder of Xcode's form.
    @Test(arguments: [StoreKind.recordLog, .binary])
    func `Versions from files follow each other`(kind: StoreKind) throws {
        let scratch = try ScratchDirectory()
        func version(_ name: String, _ entities: String) throws -> NSManagedObjectModel {
            let folder = scratch["Library.xcdatamodeld/\(name).xcdatamodel"]
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><model>\(entities)</model>".utf8).write(to: folder.appendingPathComponent("contents"))
            return try NSManagedObjectModel.load(contentsOf: folder)
        }
        let models = [
            try version("v1", """
                <entity name="Book"><attribute name="title" attributeType="String"/><attribute name="pages" optional="YES" attributeType="Integer 16"/></entity>
                """),
            try version("v2", """
                <entity name="Book"><attribute name="name" attributeType="String" elementID="title"/><attribute name="pages" attributeType="Integer 32" defaultValueString="1"/>
                <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" inverseEntity="Author"/></entity>
                <entity name="Author"><attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/></entity>
                """),
            try version("v3", """
                <entity name="Work" isAbstract="YES"><attribute name="name" attributeType="String"/></entity>
                <entity name="Book" parentEntity="Work"><attribute name="pages" attributeType="Integer 32" defaultValueString="1"/>
                <relationship name="authors" optional="YES" toMany="YES" destinationEntity="Author" inverseName="books" inverseEntity="Author" elementID="author"/></entity>
                <entity name="Author"><attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book" inverseName="authors" inverseEntity="Book"/></entity>
                """),
            try version("v4", """
                <entity name="Volume" elementID="Book"><attribute name="name" attributeType="String"/><attribute name="leaves" attributeType="Integer 64" defaultValueString="1" elementID="pages"/></entity>
                """),
        ]
        let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: scratch["Library.xcdatamodeld"])
        #expect(checksums == Dictionary(uniqueKeysWithValues: zip(["v1", "v2", "v3", "v4"], models.map(\.versionChecksum))))
        let chain = try Chain(kind)
        try chain.with(models[0]) { context in
            context.make("Book", ["title": "Emma", "pages": 400])
            context.make("Book", ["title": "Pip"])
        }
        try chain.with(models[1]) { context in
            #expect(try context.lines() == ["Book: author=- name=Emma pages=400", "Book: author=- name=Pip pages=1"])
            let author = context.make("Author", ["name": "Jane"])
            for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) { book.setValue(author, forKey: "author") }
        }
        try chain.with(models[2]) { context in
            let lines = try context.lines()
            #expect(lines.dropFirst() == ["Book: authors=[\"Jane\"] name=Emma pages=400", "Book: authors=[\"Jane\"] name=Pip pages=1"])
            #expect(lines[0].contains("Emma") && lines[0].contains("Pip"))
        }
        #expect(try chain.lines(models[3]) == ["Volume: leaves=1 name=Pip", "Volume: leaves=400 name=Emma"])
    }
}
