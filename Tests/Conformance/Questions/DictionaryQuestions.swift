import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor @Suite("Dictionary results") struct DictionaryQuestions {
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

    @Test(
        "Dictionaries have the properties that are asked for", .header("NSFetchRequest", "propertiesToFetch"),
        arguments: StoreKind.allCases)
    func columns(kind: StoreKind) throws {
        let rows = try books(kind).context.fetch(request(["title", "pages"], by: "title"))
        #expect(rows.map { $0["title"] as? String } == ["a", "b", "c"] && rows.map { $0["pages"] as? Int } == [10, 20, 30])
        #expect(rows.allSatisfy { $0.count == 2 })
    }

    @Test(
        "Without named properties dictionaries have all attributes", .reference("nsfetchrequest/propertiestofetch"),
        arguments: StoreKind.allCases)
    func allColumns(kind: StoreKind) throws {
        let row = try #require(try books(kind).context.fetch(request(nil, by: "title")).first)
        #expect(row["title"] as? String == "a" && row["pages"] as? Int == 10 && row["isRead"] as? Bool == false && row["tags"] == nil)
    }

    @Test(
        "A nil value has no entry", .source("Measured in public code for Apple's platforms: keys of nil values are absent"),
        arguments: StoreKind.allCases)
    func nilValues(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book", ["pages": 1])
        let row = try #require(try stack.context.fetch(request(["title", "pages"])).first)
        #expect(row["title"] == nil && row["pages"] as? Int == 1)
    }

    @Test("A property description asks as its name does", .header("NSFetchRequest", "propertiesToFetch"), arguments: StoreKind.allCases)
    func descriptions(kind: StoreKind) throws {
        let stack = try books(kind)
        let title = try #require(NSEntityDescription.entity(forEntityName: "Book", in: stack.context)?.attributesByName["title"])
        #expect(try stack.context.fetch(request([title], by: "title")).map { $0["title"] as? String } == ["a", "b", "c"])
    }

    @Test(
        "A to-one relationship comes as an ID", .header("NSFetchRequest", "propertiesToFetch: to-one relationships"),
        arguments: [StoreKind.database])
    func relationships(kind: StoreKind) throws {
        let stack = try books(kind), rows = try stack.context.fetch(request(["author", "title"], by: "title"))
        let eve = try #require(try stack.fetch("Author", "name == 'Eve'").first)
        #expect(rows.first?["author"] as? NSManagedObjectID == eve.objectID)
    }

    @Test("A key path through a to-one relationship is a column", .header("NSFetchRequest", "propertiesToFetch"))
    func paths() throws {
        let rows = try books().context.fetch(request(["title", "author.name"], by: "title"))
        #expect(rows.map { $0["author.name"] as? String } == ["Eve", "Eve", "Zoe"])
    }

    @Test(
        "objectID can be asked for as an expression",
        .source("NSExpression.expressionForEvaluatedObject with NSExpressionDescription of type objectID"))
    func objectIDs() throws {
        let stack = try books(), column = NSExpressionDescription()
        (column.name, column.expressionResultType) = ("id", .objectIDAttributeType)
        column.expression = NSExpression.expressionForEvaluatedObject()
        let rows = try stack.context.fetch(request([column, "title"], by: "title"))
        let first = try #require(try stack.fetch("Book", "title == 'a'").first)
        #expect(rows.first?["id"] as? NSManagedObjectID == first.objectID)
    }

    @Test(
        "An aggregate without groups is one row", .source("Core Data Snippets, Fetching Specific Property Values: maximum and minimum"),
        arguments: [("sum:(pages)", 60), ("max:(pages)", 30), ("min:(pages)", 10), ("average:(pages)", 20), ("count:(pages)", 3)])
    func aggregates(format: String, value: Int) throws {
        let rows = try books().context.fetch(request([computed("value", format, .integer64AttributeType)]))
        #expect(rows.count == 1 && rows.first?["value"] as? Int == value)
    }

    @Test(
        "Aggregates of key path form compute the same", .source("Key-Value Coding Programming Guide, Using Collection Operators"),
        arguments: [("@sum.pages", 60), ("@max.pages", 30)])
    func keyPathAggregates(path: String, value: Int) throws {
        let column = NSExpressionDescription()
        (column.name, column.expression, column.expressionResultType) = ("value", NSExpression(forKeyPath: path), .integer64AttributeType)
        #expect(try books().context.fetch(request([column])).first?["value"] as? Int == value)
    }

    @Test("An aggregate is of the rows that the predicate finds", .reference("nsfetchrequest/predicate"))
    func filteredAggregate() throws {
        let request = request([computed("value", "sum:(pages)", .integer64AttributeType)])
        request.predicate = NSPredicate(format: "pages < 30")
        #expect(try books().context.fetch(request).first?["value"] as? Int == 30)
    }

    @Test("Groups have one row each, with aggregates of their own", .header("NSFetchRequest", "propertiesToGroupBy"))
    func groups() throws {
        let stack = try books()
        let request = request(["author.name", computed("value", "sum:(pages)", .integer64AttributeType)], by: "author.name")
        request.propertiesToGroupBy = ["author.name"]
        let rows = try stack.context.fetch(request)
        #expect(rows.map { $0["author.name"] as? String } == ["Eve", "Zoe"] && rows.map { $0["value"] as? Int } == [30, 30])
    }

    @Test("A having predicate filters groups, by an expression's name as a variable", .header("NSFetchRequest", "havingPredicate"))
    func having() throws {
        let request = request(["isRead", computed("value", "count:(title)", .integer64AttributeType)])
        request.propertiesToGroupBy = ["isRead"]
        request.havingPredicate = NSPredicate(format: "%@ > 1", argumentArray: [NSExpression(forVariable: "value")])
        let rows = try books().context.fetch(request)
        #expect(rows.count == 1 && rows.first?["isRead"] as? Bool == true && rows.first?["value"] as? Int == 2)
    }

    @Test("Distinct results have no row twice", .header("NSFetchRequest", "returnsDistinctResults"), arguments: StoreKind.allCases)
    func distinct(kind: StoreKind) throws {
        let request = request(["isRead"], by: "isRead")
        request.returnsDistinctResults = true
        #expect(try books(kind).context.fetch(request).map { $0["isRead"] as? Bool } == [false, true])
    }

    @Test("Dictionaries obey limit and offset", .header("NSFetchRequest", "fetchLimit, fetchOffset"), arguments: StoreKind.allCases)
    func window(kind: StoreKind) throws {
        let request = request(["title"], by: "title")
        (request.fetchLimit, request.fetchOffset) = (1, 1)
        #expect(try books(kind).context.fetch(request).map { $0["title"] as? String } == ["b"])
    }

    @Test("Dictionaries know no unsaved change", .reference("nsfetchrequest/includespendingchanges"))
    func unsaved() throws {
        let stack = try books()
        stack.new("Book", ["title": "d"])
        let request = request(["title"], by: "title")
        request.includesPendingChanges = false
        #expect(try stack.context.fetch(request).count == 3)
    }

    @Test(
        "Objects with named properties are whole objects all the same",
        .header("NSFetchRequest", "propertiesToFetch: partially pre-populated faults"), arguments: StoreKind.allCases)
    func partialObjects(kind: StoreKind) throws {
        let stack = try books(kind), request = stack.request("Book", by: "title")
        request.propertiesToFetch = ["title"]
        let book = try #require(try stack.sibling().fetch(request).first)
        #expect(book.text("title") == "a" && book.int("pages") == 10)
    }

    @Test("An aggregate beside a plain column is in each row", .source("Measured by a public test suite for Apple's platforms (parity B3)"))
    func aggregateBesideColumn() throws {
        let stack = try books(), request = request(["title", computed("value", "sum:(pages)", .integer64AttributeType)], by: "title")
        let rows = try stack.context.fetch(request)
        #expect(rows.map { $0["value"] as? Int } == [60, 60, 60])
    }

    @Test(
        "An aggregate of result type text is a number's text", .source("Measured by a public test suite for Apple's platforms (parity B3)"))
    func aggregateAsText() throws {
        let stack = try books(), row = try stack.context.fetch(request([computed("value", "sum:(pages)", .stringAttributeType)])).first
        #expect(row?["value"] as? String == "60.0")
    }

    @Test("Groups may be sorted by what they are not grouped by", .source("Public code for Apple's platforms (parity B4)"))
    func sortedByOther() throws {
        let stack = try books(), request = request(["isRead"], by: "title")
        request.propertiesToGroupBy = ["isRead"]
        let rows = try stack.context.fetch(request)
        #expect(rows.count == 2)
    }

    @Test(
        "distinct: in an aggregate counts each value once", .source("Public code for Apple's platforms (parity A13)"))
    func countOfDistinct() throws {
        let stack = try books(), distinct = NSExpression(forFunction: "distinct:", arguments: [NSExpression(forKeyPath: "isRead")])
        let column = NSExpressionDescription()
        column.expression = NSExpression(forFunction: "count:", arguments: [distinct])
        (column.name, column.expressionResultType) = ("value", .integer64AttributeType)
        #expect(try stack.context.fetch(request([column])).first?["value"] as? Int == 2)
    }
}
