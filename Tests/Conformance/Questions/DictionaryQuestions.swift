import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct DictionaryQuestions {
    /// Books: a 10 and b 20 by Eve, c 30 by Zoe.
    private func books(_ kind: StoreKind = .database) throws -> Stack {
        let stack = try Stack(kind), eve = stack.new("Author", ["name": "Eve"]), zoe = stack.new("Author", ["name": "Zoe"])
        for (title, pages, author) in [("a", 10, eve), ("b", 20, eve), ("c", 30, zoe)] {
            stack.new("Book", ["title": title, "pages": pages, "author": author, "isRead": pages > 10])
        }
        try stack.context.save()
        return stack
    }

    private func computed(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        (column.name, column.expression, column.expressionResultType) = (name, NSExpression(format: format), type)
        return column
    }

    private func request(_ properties: [Any]?, by keys: String...) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    @Test(.header("NSFetchRequest", "propertiesToFetch"), arguments: StoreKind.allCases)
    func `Dictionaries have the properties that are asked for`(kind: StoreKind) throws {
        let rows = try books(kind).context.fetch(request(["title", "pages"], by: "title"))
        #expect(rows.map { $0["title"] as? String } == ["a", "b", "c"] && rows.map { $0["pages"] as? Int } == [10, 20, 30])
        #expect(rows.allSatisfy { $0.count == 2 })
    }

    @Test(.reference("nsfetchrequest/propertiestofetch"), arguments: StoreKind.allCases)
    func `Without named properties dictionaries have all attributes`(kind: StoreKind) throws {
        let row = try #require(try books(kind).context.fetch(request(nil, by: "title")).first)
        #expect(row["title"] as? String == "a" && row["pages"] as? Int == 10 && row["isRead"] as? Bool == false && row["tags"] == nil)
    }

    @Test(.source("Measured in public code for Apple's platforms: keys of nil values are absent"), arguments: StoreKind.allCases)
    func `A nil value has no entry`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book", ["pages": 1])
        let row = try #require(try stack.context.fetch(request(["title", "pages"])).first)
        #expect(row["title"] == nil && row["pages"] as? Int == 1)
    }

    @Test(.header("NSFetchRequest", "propertiesToFetch"), arguments: StoreKind.allCases)
    func `A property description asks as its name does`(kind: StoreKind) throws {
        let stack = try books(kind)
        let title = try #require(NSEntityDescription.entity(forEntityName: "Book", in: stack.context)?.attributesByName["title"])
        #expect(try stack.context.fetch(request([title], by: "title")).map { $0["title"] as? String } == ["a", "b", "c"])
    }

    @Test(.header("NSFetchRequest", "propertiesToFetch: to-one relationships"), arguments: [StoreKind.database])
    func `A to-one relationship comes as an ID`(kind: StoreKind) throws {
        let stack = try books(kind), rows = try stack.context.fetch(request(["author", "title"], by: "title"))
        let eve = try #require(try stack.fetch("Author", "name == 'Eve'").first)
        #expect(rows.first?["author"] as? NSManagedObjectID == eve.objectID)
    }

    @Test(.header("NSFetchRequest", "propertiesToFetch"))
    func `A key path through a to-one relationship is a column`() throws {
        let rows = try books().context.fetch(request(["title", "author.name"], by: "title"))
        #expect(rows.map { $0["author.name"] as? String } == ["Eve", "Eve", "Zoe"])
    }

    @Test(.source("NSExpression.expressionForEvaluatedObject with NSExpressionDescription of type objectID"))
    func `objectID can be asked for as an expression`() throws {
        let stack = try books(), column = NSExpressionDescription()
        (column.name, column.expressionResultType) = ("id", .objectIDAttributeType)
        column.expression = NSExpression.expressionForEvaluatedObject()
        let rows = try stack.context.fetch(request([column, "title"], by: "title"))
        let first = try #require(try stack.fetch("Book", "title == 'a'").first)
        #expect(rows.first?["id"] as? NSManagedObjectID == first.objectID)
    }

    @Test(
        .source("Core Data Snippets, Fetching Specific Property Values: maximum and minimum"),
        arguments: [("sum:(pages)", 60), ("max:(pages)", 30), ("min:(pages)", 10), ("average:(pages)", 20), ("count:(pages)", 3)])
    func `An aggregate without groups is one row`(format: String, value: Int) throws {
        let rows = try books().context.fetch(request([computed("value", format, .integer64AttributeType)]))
        #expect(rows.count == 1 && rows.first?["value"] as? Int == value)
    }

    @Test(.source("Key-Value Coding Programming Guide, Using Collection Operators"), arguments: [("@sum.pages", 60), ("@max.pages", 30)])
    func `Aggregates of key path form compute the same`(path: String, value: Int) throws {
        let column = NSExpressionDescription()
        (column.name, column.expression, column.expressionResultType) = ("value", NSExpression(forKeyPath: path), .integer64AttributeType)
        #expect(try books().context.fetch(request([column])).first?["value"] as? Int == value)
    }

    @Test(.reference("nsfetchrequest/predicate"))
    func `An aggregate is of the rows that the predicate finds`() throws {
        let request = request([computed("value", "sum:(pages)", .integer64AttributeType)])
        request.predicate = NSPredicate(format: "pages < 30")
        #expect(try books().context.fetch(request).first?["value"] as? Int == 30)
    }

    @Test(.header("NSFetchRequest", "propertiesToGroupBy"))
    func `Groups have one row each, with aggregates of their own`() throws {
        let stack = try books()
        let request = request(["author.name", computed("value", "sum:(pages)", .integer64AttributeType)], by: "author.name")
        request.propertiesToGroupBy = ["author.name"]
        let rows = try stack.context.fetch(request)
        #expect(rows.map { $0["author.name"] as? String } == ["Eve", "Zoe"] && rows.map { $0["value"] as? Int } == [30, 30])
    }

    @Test(.header("NSFetchRequest", "havingPredicate"))
    func `A having predicate filters groups, by an expression's name as a variable`() throws {
        let request = request(["isRead", computed("value", "count:(title)", .integer64AttributeType)])
        request.propertiesToGroupBy = ["isRead"]
        request.havingPredicate = NSPredicate(format: "%@ > 1", argumentArray: [NSExpression(forVariable: "value")])
        let rows = try books().context.fetch(request)
        #expect(rows.count == 1 && rows.first?["isRead"] as? Bool == true && rows.first?["value"] as? Int == 2)
    }

    @Test(.header("NSFetchRequest", "returnsDistinctResults"), arguments: StoreKind.allCases)
    func `Distinct results have no row twice`(kind: StoreKind) throws {
        let request = request(["isRead"], by: "isRead")
        request.returnsDistinctResults = true
        #expect(try books(kind).context.fetch(request).map { $0["isRead"] as? Bool } == [false, true])
    }

    @Test(.header("NSFetchRequest", "fetchLimit, fetchOffset"), arguments: StoreKind.allCases)
    func `Dictionaries obey limit and offset`(kind: StoreKind) throws {
        let request = request(["title"], by: "title")
        (request.fetchLimit, request.fetchOffset) = (1, 1)
        #expect(try books(kind).context.fetch(request).map { $0["title"] as? String } == ["b"])
    }

    @Test(.reference("nsfetchrequest/includespendingchanges"))
    func `Dictionaries know no unsaved change`() throws {
        let stack = try books()
        stack.new("Book", ["title": "d"])
        let request = request(["title"], by: "title")
        request.includesPendingChanges = false
        #expect(try stack.context.fetch(request).count == 3)
    }

    @Test(.header("NSFetchRequest", "propertiesToFetch: partially pre-populated faults"), arguments: StoreKind.allCases)
    func `Objects with named properties are whole objects all the same`(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "title")
        request.propertiesToFetch = ["title"]
        let book = try #require(try stack.sibling().fetch(request).first)
        #expect(book.text("title") == "a" && book.int("pages") == 10)
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B3)"))
    func `An aggregate beside a plain column is in each row`() throws {
        let stack = try books(), request = request(["title", computed("value", "sum:(pages)", .integer64AttributeType)], by: "title")
        let rows = try stack.context.fetch(request)
        #expect(rows.map { $0["value"] as? Int } == [60, 60, 60])
    }

    @Test(.source("Measured by a public test suite for Apple's platforms (parity B3)"))
    func `An aggregate of result type text is a number's text`() throws {
        let stack = try books(), row = try stack.context.fetch(request([computed("value", "sum:(pages)", .stringAttributeType)])).first
        #expect(row?["value"] as? String == "60.0")
    }

    @Test(.source("Public code for Apple's platforms (parity B4)"))
    func `Groups may be sorted by what they are not grouped by`() throws {
        let stack = try books(), request = request(["isRead"], by: "title")
        request.propertiesToGroupBy = ["isRead"]
        let rows = try stack.context.fetch(request)
        #expect(rows.count == 2)
    }

    @Test(.source("Public code for Apple's platforms (parity A13)"))
    func `distinct: in an aggregate counts each value once`() throws {
        let stack = try books(), distinct = NSExpression(forFunction: "distinct:", arguments: [NSExpression(forKeyPath: "isRead")])
        let column = NSExpressionDescription()
        column.expression = NSExpression(forFunction: "count:", arguments: [distinct])
        (column.name, column.expressionResultType) = ("value", .integer64AttributeType)
        #expect(try stack.context.fetch(request([column])).first?["value"] as? Int == 2)
    }
}
