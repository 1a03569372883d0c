import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// A predicate, and the titles of the objects that it finds.
struct Found: CustomTestStringConvertible, Sendable {
    let format: String
    let titles: String
    let arguments: [any Sendable]
    var testDescription: String { format }

    init(_ format: String, _ titles: String, _ arguments: any Sendable...) {
        (self.format, self.titles, self.arguments) = (format, titles, arguments)
    }

    /// Over books Ada (10 pages, read, by Eve, tags x and y), bob (20, by Eve, tag x), Céline (30, by Zoe), and nil (40).
    static let operators = [
        Found("pages == 20", "bob"), Found("pages = 20", "bob"), Found("pages != 20", "-,Ada,Céline"), Found("pages <> 20", "-,Ada,Céline"),
        Found("pages < 20", "Ada"), Found("pages <= 20", "Ada,bob"), Found("pages =< 20", "Ada,bob"), Found("pages > 30", "-"),
        Found("pages >= 30", "-,Céline"), Found("pages => 30", "-,Céline"), Found("pages BETWEEN {15, 30}", "Céline,bob"),
        Found("pages BETWEEN %@", "Céline,bob", [15, 30]), Found("pages IN {10, 40}", "-,Ada"), Found("pages IN %@", "-,Ada", [10, 40]),
        Found("NOT (pages IN {10, 40})", "Céline,bob"), Found("20 == pages", "bob"), Found("pages == %d", "bob", 20),
        Found("pages == %@", "bob", 20),
        Found("%K == 20", "bob", "pages"), Found("isRead == YES", "Ada"), Found("isRead == TRUE", "Ada"), Found("isRead == 1", "Ada"),
        Found("isRead == NO", "-,Céline,bob"), Found("pages > 10 AND pages < 40", "Céline,bob"),
        Found("pages > 10 && pages < 40", "Céline,bob"),
        Found("pages < 20 OR pages > 30", "-,Ada"), Found("pages < 20 || pages > 30", "-,Ada"), Found("NOT pages < 20", "-,Céline,bob"),
        Found("!(pages < 20)", "-,Céline,bob"), Found("TRUEPREDICATE", "-,Ada,Céline,bob"), Found("FALSEPREDICATE", ""),
        Found("pages + 10 == 30", "bob"), Found("pages * 2 == 40", "bob"), Found("pages / 2 == 15", "Céline"), Found("pages - 5 > 30", "-"),
        Found("rating == nil", "-,Ada,Céline,bob"), Found("title == nil", "-"), Found("title = NULL", "-"),
        Found("title != nil", "Ada,Céline,bob"),
        Found("author == nil", "-"), Found("author != NIL", "Ada,Céline,bob"),
    ]

    static let texts = [
        Found("title == 'Ada'", "Ada"), Found("title == 'ada'", ""), Found("title ==[c] 'ADA'", "Ada"),
        Found("title ==[d] 'Celine'", "Céline"),
        Found("title ==[cd] 'celine'", "Céline"), Found("title BEGINSWITH 'A'", "Ada"), Found("title BEGINSWITH[c] 'a'", "Ada"),
        Found("title ENDSWITH 'b'", "bob"), Found("title CONTAINS 'd'", "Ada"), Found("title CONTAINS[cd] 'E'", "Céline"),
        Found("title LIKE 'b*'", "bob"), Found("title LIKE '?da'", "Ada"), Found("title LIKE[c] 'BO?'", "bob"),
        Found("title MATCHES '[a-z]+'", "bob"),
        Found("title MATCHES '.*d.*'", "Ada"), Found("title IN {'Ada', 'bob'}", "Ada,bob"), 
        Found("title != 'Ada'", "Céline,bob"), Found("NOT (title BEGINSWITH 'A')", "Céline,bob"), Found("title == %@", "Ada", "Ada"),
        Found("title == \"Ada\"", "Ada"), Found("title CONTAINS %@", "Ada", "d"), Found("title.length == 3", "Ada,bob"),
    ]

    static let relationships = [
        Found("author.name == 'Eve'", "Ada,bob"), Found("author.name BEGINSWITH 'Z'", "Céline"), Found("author.name == nil", "-"),
        Found("ANY tags.label == 'y'", "Ada"), Found("SOME tags.label == 'y'", "Ada"), Found("ANY tags.label IN {'x', 'y'}", "Ada,bob"),
        Found("NONE tags.label == 'x'", "-,Céline"), Found("tags.@count == 2", "Ada"),
        Found("tags.@count == 0", "-,Céline"), Found("tags.@count > 0", "Ada,bob"),
        Found("SUBQUERY(tags, $t, $t.label == 'x').@count == 1", "Ada,bob"),
        Found("SUBQUERY(tags, $t, $t.label == 'x' OR $t.label == 'y').@count == 2", "Ada"), Found("author.books.@count == 2", "Ada,bob"),
        Found("NOT (ANY tags.label == 'x')", "-,Céline"), Found("ANY author.books.title == 'bob'", "Ada,bob"),
    ]
}

@MainActor struct PredicateQuestions {
    private func books(_ kind: StoreKind) throws -> Stack {
        let stack = try Stack(kind), eve = stack.new("Author", ["name": "Eve"]), zoe = stack.new("Author", ["name": "Zoe"])
        let x = stack.new("Tag", ["label": "x"]), y = stack.new("Tag", ["label": "y"])
        stack.new("Book", ["title": "Ada", "pages": 10, "isRead": true, "author": eve, "tags": NSSet(array: [x, y])])
        stack.new("Book", ["title": "bob", "pages": 20, "author": eve, "tags": NSSet(object: x)])
        stack.new("Book", ["title": "Céline", "pages": 30, "author": zoe])
        stack.new("Book", ["pages": 40])
        return stack
    }

    private func titles(_ stack: Stack, _ question: Found, in context: NSManagedObjectContext) throws -> String {
        let found = try stack.fetch("Book", question.format, question.arguments, in: context)
        return found.map { $0.text("title") ?? "-" }.sorted().joined(separator: ",")
    }

    /// Asks the store, and the unsaved objects, which must agree.
    private func ask(_ question: Found, _ kind: StoreKind) throws {
        let stack = try books(kind)
        let unsaved = try titles(stack, question, in: stack.context)
        try stack.context.save()
        #expect(try titles(stack, question, in: stack.sibling()) == question.titles)
        #expect(unsaved == question.titles)
    }

    @Test(.source("Predicate Programming Guide, Predicate Format String Syntax"), arguments: Found.operators, StoreKind.allCases)
    func `Comparisons, numbers and compound predicates find what they say`(question: Found, kind: StoreKind) throws {
        try ask(question, kind)
    }

    @Test(.source("Predicate Programming Guide, Predicate Format String Syntax: String Comparisons"), arguments: Found.texts, StoreKind.allCases)
    func `Comparisons of texts find what they say`(question: Found, kind: StoreKind) throws {
        if question.format == "title != 'Ada'" || question.format.hasPrefix("NOT (title") { return try askOfNil(question, kind) }
        try ask(question, kind)
    }

    /// SQL's three truth values and Foundation's two differ for nil: only rows with a title are asked.
    private func askOfNil(_ question: Found, _ kind: StoreKind) throws {
        let stack = try books(kind)
        try stack.context.save()
        let found = try titles(stack, Found("(\(question.format)) AND title != nil", question.titles), in: stack.sibling())
        #expect(found == question.titles)
    }

    @Test(
        .source("Predicate Programming Guide, Predicate Format String Syntax: Aggregate Operations"), arguments: Found.relationships,
        StoreKind.allCases)
    func `Predicates over relationships find what they say`(question: Found, kind: StoreKind) throws {
        try ask(question, kind)
    }

    @Test(
        .source("Predicate Programming Guide, Predicate Format String Syntax: Aggregate Operations"),
        arguments: [
            "books.@sum.pages == 30", "books.@max.pages == 20", "books.@min.pages == 10", "books.@avg.pages == 15", "books.@count == 2",
        ],
        StoreKind.allCases)
    func `Aggregates over a relationship are compared`(format: String, kind: StoreKind) throws {
        let stack = try books(kind)
        try stack.context.save()
        try #require(try stack.fetch("Book", "title == 'Céline'").first).setValue(35, forKey: "pages")
        try stack.context.save()
        #expect(try stack.fetch("Author", format, in: stack.sibling()).map { $0.text("name") } == ["Eve"])
    }

    @Test(.source("Predicate Programming Guide, Predicate Format String Syntax: Aggregate Operations"), arguments: [StoreKind.inMemory, .binary])
    func `ALL holds where no member breaks it`(kind: StoreKind) throws {
        try ask(Found("ALL tags.label == 'x'", "-,Céline,bob"), kind)
    }

    @Test(.source("Predicate Programming Guide, Creating Predicates"), arguments: StoreKind.allCases)
    func `A date is compared with a date`(kind: StoreKind) throws {
        let stack = try Stack(kind), day = Date(timeIntervalSinceReferenceDate: 86400)
        try stack.saved("Book", ["printed": day])
        #expect(try stack.count("Book", "printed == %@", [day], in: stack.sibling()) == 1)
        #expect(try stack.count("Book", "printed < %@", [day], in: stack.sibling()) == 0)
        #expect(try stack.count("Book", "printed <= %@", [day.addingTimeInterval(1)], in: stack.sibling()) == 1)
    }

    @Test(.source("NSExpression: expressionForFunction:arguments:, now"), arguments: StoreKind.allCases)
    func `now() is the present`(kind: StoreKind) throws {
        let stack = try Stack(kind)
        try stack.saved("Book", ["printed": Date(timeIntervalSinceNow: -60)])
        #expect(try stack.count("Book", "printed < now()", in: stack.sibling()) == 1)
    }

    @Test(.reference("nsattributetype"), arguments: StoreKind.allCases)
    func `UUIDs, data and decimals are compared with their like`(kind: StoreKind) throws {
        let stack = try Stack(kind), key = UUID()
        try stack.saved("Book", ["key": key, "cover": Data([1]), "price": NSDecimalNumber(string: "1.10")])
        let questions: [(String, Any)] = [("key == %@", key), ("cover == %@", Data([1])), ("price == %@", NSDecimalNumber(string: "1.1"))]
        for (format, value) in questions {
            #expect(try stack.count("Book", format, [value], in: stack.sibling()) == 1, "\(format)")
        }
    }

    @Test(.source("Predicate Programming Guide, Using Predicates with Core Data"), arguments: StoreKind.allCases)
    func `An object is compared with a relationship's`(kind: StoreKind) throws {
        let stack = try books(kind)
        try stack.context.save()
        let eve = try #require(try stack.fetch("Author", "name == 'Eve'").first)
        #expect(try stack.count("Book", "author == %@", [eve]) == 2)
        #expect(try stack.count("Book", "author IN %@", [[eve]]) == 2)
        #expect(try stack.count("Author", "ANY books.author == %@", [eve]) == 1)
        #expect(try stack.count("Book", "author == %@", [eve.objectID]) == 2)
    }

    @Test(.source("Predicate Programming Guide, Using Predicates with Core Data"), arguments: StoreKind.allCases)
    func `A member is looked for in a to-many relationship`(kind: StoreKind) throws {
        let stack = try books(kind)
        try stack.context.save()
        let tag = try #require(try stack.fetch("Tag", "label == 'x'").first)
        #expect(try stack.count("Book", "tags CONTAINS %@", [tag]) == 2)
        #expect(try stack.count("Book", "%@ IN tags", [tag]) == 2)
        #expect(try stack.count("Book", "ANY tags == %@", [tag]) == 2)
    }

    @Test(.source("Predicate Programming Guide, Creating Predicates: Predicate Templates"))
    func `Substitution fills a predicate's variables`() throws {
        let template = NSPredicate(format: "pages > $least"), filled = template.withSubstitutionVariables(["least": 3])
        #expect(filled.predicateFormat == "pages > 3" && template.predicateFormat == "pages > $least")
    }

    @Test(.source("NSPredicate: predicateFormat"),
        arguments: [
            ("a = 1", "a == 1"), ("a == 1 && b == 2", "a == 1 AND b == 2"), ("a == 1 or b == 2", "a == 1 OR b == 2"),
            ("!(a == 1)", "NOT a == 1"),
            ("a like[cd] 'x*'", "a LIKE[cd] \"x*\""), ("a beginswith 'x'", "a BEGINSWITH \"x\""), ("a in {1, 2}", "a IN {1, 2}"),
            ("any a.b == 3", "ANY a.b == 3"), ("TRUEPREDICATE", "TRUEPREDICATE"), ("FALSEPREDICATE", "FALSEPREDICATE"),
            ("a between {1, 2}", "a BETWEEN {1, 2}"), ("self == 'x'", "SELF == \"x\""), ("a <> 3", "a != 3"), ("a == nil", "a == nil"),
        ])
    func `A format comes back as its canonical text`(format: String, canonical: String) {
        #expect(NSPredicate(format: format).predicateFormat == canonical)
    }

    @Test(.source("NSCompoundPredicate"))
    func `Compound predicates are made of others`() {
        let one = NSPredicate(format: "a == 1"), other = NSPredicate(format: "b == 2")
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [one, other]).predicateFormat == "a == 1 AND b == 2")
        #expect(NSCompoundPredicate(orPredicateWithSubpredicates: [one, other]).predicateFormat == "a == 1 OR b == 2")
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: one).predicateFormat == "NOT a == 1")
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).evaluate(with: NSObject()))
        #expect(!NSCompoundPredicate(orPredicateWithSubpredicates: []).evaluate(with: NSObject()))
    }

    @Test(.source("Measured in public code for Apple's platforms (parity A12)"))
    func `Arguments beyond a format's placeholders are ignored`() {
        #expect(NSPredicate(format: "a == 1", argumentArray: [5]).predicateFormat == "a == 1")
    }

    @Test(.source("Measured in public code for Apple's platforms (parity B2)"), arguments: ["title IN {9, 10}", "title == 9"])
    func `A text attribute is compared with numbers by a store`(format: String) throws {
        let stack = try Stack(.database)
        try stack.saved("Book", ["title": "9"])
        let found = try stack.count("Book", format, in: stack.sibling())
        #expect(found == 1)
    }

    @Test(.source("NSPredicate on Core Data: entity == %@, used in Apple's Core Data samples"), arguments: StoreKind.allCases)
    func `An entity is asked for in a predicate`(kind: StoreKind) throws {
        let stack = try Stack(kind), novel = try #require(NSEntityDescription.entity(forEntityName: "Novel", in: stack.context))
        stack.new("Novel")
        stack.new("Book")
        try stack.context.save()
        #expect(try stack.count("Book", "entity == %@", [novel], in: stack.sibling()) == 1)
    }
}
