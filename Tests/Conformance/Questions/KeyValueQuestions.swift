import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct KeyValueQuestions {
    @Test(.reference("nsattributetype"), arguments: StoreKind.allCases)
    func `A value of each type comes back as it was set, and from the store`(kind: StoreKind) throws {
        let key = UUID(), date = Date(timeIntervalSinceReferenceDate: 1234.5), page = try #require(URL(string: "https://example.com/a"))
        let stack = try Stack(kind)
        let values: [String: Any] = [
            "title": "Ü", "pages": 7, "price": NSDecimalNumber(string: "12.34"), "rating": 2.5, "isRead": true, "printed": date,
            "cover": Data([1, 2]), "key": key, "page": page,
        ]
        let book = try stack.saved("Book", values), read = try stack.only("Book", in: stack.sibling())
        for one in [book, read] {
            #expect(one.text("title") == "Ü" && one.int("pages") == 7 && one.value(forKey: "rating") as? Double == 2.5)
            #expect(one.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "12.34"))
            #expect(one.value(forKey: "isRead") as? Bool == true && one.value(forKey: "printed") as? Date == date)
            #expect(one.value(forKey: "cover") as? Data == Data([1, 2]) && one.value(forKey: "key") as? UUID == key)
            #expect(one.value(forKey: "page") as? URL == page)
        }
    }

    @Test(.reference("nsattributedescription/attributevalueclassname"))
    func `Each attribute type has its value class`() {
        let names: [(NSAttributeType, String)] = [
            (.integer16AttributeType, "NSNumber"), (.integer32AttributeType, "NSNumber"), (.integer64AttributeType, "NSNumber"),
            (.doubleAttributeType, "NSNumber"), (.floatAttributeType, "NSNumber"), (.booleanAttributeType, "NSNumber"),
            (.decimalAttributeType, "NSDecimalNumber"), (.stringAttributeType, "NSString"), (.dateAttributeType, "NSDate"),
            (.binaryDataAttributeType, "NSData"), (.UUIDAttributeType, "NSUUID"), (.URIAttributeType, "NSURL"),
        ]
        for (type, name) in names { #expect(Sketch.attribute("a", type).attributeValueClassName == name) }
    }

    @Test(.reference("nsmanagedobject/setvalue(_:forkey:)"), arguments: StoreKind.allCases)
    func `setValue(nil) makes an attribute nil`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setValue(nil, forKey: "title")
        try stack.context.save()
        #expect(try stack.only("Book", in: stack.sibling()).value(forKey: "title") == nil)
    }

    @Test(.reference("nspropertydescription/istransient"), arguments: StoreKind.allCases)
    func `A transient value is not stored`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["mood": "glad"])
        #expect(book.text("mood") == "glad")
        #expect(try stack.only("Book", in: stack.sibling()).value(forKey: "mood") == nil)
    }

    @Test(.reference("nsmanagedobject/changedvalues()"), arguments: StoreKind.allCases)
    func `changedValues() has the new values of what changed since the last save`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one", "pages": 1])
        #expect(book.changedValues().isEmpty)
        book.setValue("two", forKey: "title")
        #expect(book.changedValues().keys.sorted() == ["title"] && book.changedValues()["title"] as? String == "two")
        try stack.context.save()
        #expect(book.changedValues().isEmpty)
    }

    @Test(.reference("nsmanagedobject/changedvalues()"), arguments: StoreKind.allCases)
    func `changedValues() has NSNull where a value became nil`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setValue(nil, forKey: "title")
        #expect(book.changedValues()["title"] is NSNull)
    }

    @Test(.reference("nsmanagedobject/changedvalues()"), arguments: StoreKind.allCases)
    func `changedValues() has no transient value`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        book.setValue("glad", forKey: "mood")
        #expect(book.changedValues().isEmpty)
    }

    @Test(.header("NSManagedObject", "hasPersistentChangedValues"), arguments: StoreKind.allCases)
    func `A transient change makes an object dirty, without persistent changes`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book")
        book.setValue("glad", forKey: "mood")
        #expect(book.hasChanges && !book.hasPersistentChangedValues)
    }

    @Test(.header("NSManagedObject", "hasPersistentChangedValues"), arguments: StoreKind.allCases)
    func `An attribute that is set back is dirty, without persistent changes`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setValue("two", forKey: "title")
        book.setValue("one", forKey: "title")
        #expect(book.hasChanges)
        #expect(!book.hasPersistentChangedValues)
    }

    @Test(.header("NSManagedObject", "hasPersistentChangedValues"), arguments: StoreKind.allCases)
    func `A member that is taken out and put back is no persistent change`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author"), book = stack.new("Book", ["author": author])
        try stack.context.save()
        author.mutableSetValue(forKey: "books").remove(book)
        author.mutableSetValue(forKey: "books").add(book)
        #expect(!author.hasPersistentChangedValues && author.changedValues()["books"] == nil)
    }

    @Test(.reference("nsmanagedobject/committedvalues(forkeys:)"), arguments: StoreKind.allCases)
    func `committedValues(forKeys: nil) has the saved values of all persistent properties`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setValue("two", forKey: "title")
        let values = book.committedValues(forKeys: nil)
        #expect(values["title"] as? String == "one" && values["pages"] as? Int == 0 && values["mood"] == nil)
    }

    @Test(.reference("nsmanagedobject/committedvalues(forkeys:)"), arguments: StoreKind.allCases)
    func `committedValues(forKeys:) has the keys that are asked for`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one", "pages": 3])
        book.setValue(4, forKey: "pages")
        let values = book.committedValues(forKeys: ["pages"])
        #expect(values.keys.sorted() == ["pages"] && values["pages"] as? Int == 3)
    }

    @Test(.reference("nsmanagedobject/changedvaluesforcurrentevent()"), arguments: StoreKind.allCases)
    func `changedValuesForCurrentEvent() is empty once changes are processed`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setValue("two", forKey: "title")
        #expect(book.changedValuesForCurrentEvent().keys.sorted() == ["title"])
        stack.context.processPendingChanges()
        #expect(book.changedValuesForCurrentEvent().isEmpty && book.changedValues().keys.sorted() == ["title"])
    }

    @Test(.reference("nsmanagedobject/setprimitivevalue(_:forkey:)"), arguments: StoreKind.allCases)
    func `A primitive value is no change`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setPrimitiveValue("two", forKey: "title")
        #expect(book.text("title") == "two" && book.primitiveValue(forKey: "title") as? String == "two")
        #expect(!book.hasChanges && !stack.context.hasChanges)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B11)"), arguments: StoreKind.allCases)
    func `changedValues() has no primitive value that was set without notice`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.setValue(3, forKey: "pages")
        book.setPrimitiveValue("two", forKey: "title")
        #expect(book.changedValues().keys.sorted() == ["pages"])
    }

    @Test(
        .guide("Creating and Modifying Custom Managed Objects", "Custom Attribute and To-One Relationship Accessor Methods"),
        arguments: StoreKind.allCases)
    func `A primitive value between willChangeValue and didChangeValue is a change`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = try stack.saved("Book", ["title": "one"])
        book.willChangeValue(forKey: "title")
        book.setPrimitiveValue("two", forKey: "title")
        book.didChangeValue(forKey: "title")
        #expect(book.isUpdated && book.changedValues()["title"] as? String == "two")
        try stack.context.save()
        #expect(try stack.only("Book", in: stack.sibling()).text("title") == "two")
    }

    @Test(.source("Key-Value Coding Programming Guide, Accessing Object Properties"), arguments: StoreKind.allCases)
    func `A key path leads through relationships`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author", ["name": "Ada"]), book = stack.new("Book", ["author": author])
        #expect(book.value(forKeyPath: "author.name") as? String == "Ada")
        book.setValue("Eve", forKeyPath: "author.name")
        #expect(author.text("name") == "Eve")
    }

    @Test(.source("Key-Value Coding Programming Guide, Using Collection Operators"), arguments: StoreKind.allCases)
    func `Collection operators compute over members`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author")
        for pages in [10, 20, 60] { stack.new("Book", ["pages": pages, "author": author]) }
        func number(_ path: String) -> Double? { (author.value(forKeyPath: path) as? NSNumber)?.doubleValue }
        #expect(number("books.@count") == 3 && number("books.@sum.pages") == 90 && number("books.@avg.pages") == 30)
        #expect(number("books.@min.pages") == 10 && number("books.@max.pages") == 60)
    }

    @Test(.source("Key-Value Coding Programming Guide, Accessing Object Properties"), arguments: StoreKind.allCases)
    func `dictionaryWithValues(forKeys:) has NSNull for nil`(kind: StoreKind) throws {
        let book = try Stack(kind).new("Book", ["pages": 3]), values = book.dictionaryWithValues(forKeys: ["pages", "title"])
        #expect(values["pages"] as? Int == 3 && values["title"] is NSNull)
    }

    @Test(.source("Key-Value Coding Programming Guide, Accessing Object Properties"), arguments: StoreKind.allCases)
    func `setValuesForKeys(_:) takes NSNull for nil`(kind: StoreKind) throws {
        let book = try Stack(kind).new("Book", ["title": "one"])
        book.setValuesForKeys(["title": NSNull(), "pages": 4])
        #expect(book.value(forKey: "title") == nil && book.int("pages") == 4)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity A24)"))
    func `A key with a capital first letter finds the attribute's accessor`() throws {
        let stack = try Stack()
        stack.new("Book").setValue("one", forKey: "Title")
        #expect(try stack.only("Book", in: stack.context).value(forKey: "Title") as? String == "one")
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B12)"), arguments: StoreKind.allCases)
    func `Setting an equal value of a transformable is no change`(kind: StoreKind) throws {
        let list = Sketch.attribute("list", .transformableAttributeType)
        list.valueTransformerName = "NSSecureUnarchiveFromData"
        let stack = try Stack(kind, Sketch.items([list])), item = try stack.saved("Item", ["list": ["a", "b"] as NSArray])
        item.setValue(["a", "b"] as NSArray, forKey: "list")
        #expect(item.changedValues().isEmpty)
    }

    @Test(.guide("Creating a Managed Object Model", "Transformable attributes"), arguments: StoreKind.allCases)
    func `A transformable value comes back from the store`(kind: StoreKind) throws {
        let list = Sketch.attribute("list", .transformableAttributeType)
        list.valueTransformerName = "NSSecureUnarchiveFromData"
        let stack = try Stack(kind, Sketch.items([list]))
        try stack.saved("Item", ["list": ["a", "b"] as NSArray])
        #expect(try stack.only("Item", in: stack.sibling()).value(forKey: "list") as? [String] == ["a", "b"])
    }
}
