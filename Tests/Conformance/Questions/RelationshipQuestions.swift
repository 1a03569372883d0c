import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

@MainActor struct RelationshipQuestions {
    @Test(.guide("Creating Managed Object Relationships", "Manipulating Relationships and Object Graph Integrity"), arguments: StoreKind.allCases)
    func `Setting one side of a relationship sets the other`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author"), book = stack.new("Book", ["author": author])
        #expect(author.members("books") == [book])
        book.setValue(nil, forKey: "author")
        #expect(author.members("books").isEmpty)
    }

    @Test(.guide("Creating Managed Object Relationships", "Manipulating Relationships and Object Graph Integrity"), arguments: StoreKind.allCases)
    func `Adding a member takes it from its former owner`(kind: StoreKind) throws {
        let stack = try Stack(kind), first = stack.new("Author"), second = stack.new("Author"), book = stack.new("Book", ["author": first])
        second.mutableSetValue(forKey: "books").add(book)
        #expect(book.object("author") === second && first.members("books").isEmpty)
    }

    @Test(.guide("Creating Managed Object Relationships", "Many-to-Many Relationships"), arguments: StoreKind.allCases)
    func `Both sides of a many-to-many relationship follow`(kind: StoreKind) throws {
        let stack = try Stack(kind), books = [stack.new("Book"), stack.new("Book")], tag = stack.new("Tag")
        tag.setValue(NSSet(array: books), forKey: "books")
        try stack.context.save()
        #expect(books.allSatisfy { $0.members("tags") == [tag] })
        let other = stack.sibling()
        #expect(try stack.only("Tag", in: other).members("books").count == 2)
    }

    @Test(.reference("nsmanagedobject/setvalue(_:forkey:)"), arguments: StoreKind.allCases)
    func `Setting a to-many relationship unrelates the members before`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author"), old = stack.new("Book", ["author": author]), new = stack.new("Book")
        author.setValue(NSSet(object: new), forKey: "books")
        #expect(old.object("author") == nil && new.object("author") === author)
    }

    @Test(.reference("nsmanagedobject/setvalue(_:forkey:)"), arguments: StoreKind.allCases)
    func `Setting a to-one relationship unrelates the object before`(kind: StoreKind) throws {
        let one = Sketch.entity("One", [Sketch.attribute("name")]), other = Sketch.entity("Other", [])
        Sketch.pair(Sketch.relationship(one, "other", .one, to: other), Sketch.relationship(other, "one", .one, to: one))
        let stack = try Stack(kind, Sketch.model(one, other)), target = stack.new("Other"), first = stack.new("One", ["other": target])
        let second = stack.new("One")
        second.setValue(target, forKey: "other")
        #expect(first.object("other") == nil && target.object("one") === second)
    }

    @Test(.guide("Creating Managed Object Relationships", "Relationship Delete Rules"), arguments: StoreKind.allCases)
    func `Nullify clears the other side of what is deleted`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author"), book = stack.new("Book", ["author": author])
        try stack.context.save()
        stack.context.delete(author)
        stack.context.processPendingChanges()
        #expect(book.object("author") == nil && !book.isDeleted)
    }

    @Test(.guide("Creating Managed Object Relationships", "Relationship Delete Rules"), arguments: StoreKind.allCases)
    func `Cascade deletes the members`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        for _ in 1...3 { stack.new("Chapter", ["book": book]) }
        try stack.context.save()
        stack.context.delete(book)
        try stack.context.save()
        #expect(try stack.count("Chapter", in: stack.sibling()) == 0)
    }

    @Test(.guide("Creating Managed Object Relationships", "Relationship Delete Rules"), arguments: StoreKind.allCases)
    func `A cascade goes on through what it deletes`(kind: StoreKind) throws {
        let node = Sketch.entity("Node", [])
        let children = Sketch.relationship(node, "children", .many, to: node, rule: .cascadeDeleteRule)
        Sketch.pair(children, Sketch.relationship(node, "parent", .one, to: node))
        let stack = try Stack(kind, Sketch.model(node)), root = stack.new("Node")
        var last = root
        for _ in 1...4 { last = stack.new("Node", ["parent": last]) }
        try stack.context.save()
        stack.context.delete(root)
        try stack.context.save()
        #expect(try stack.count("Node", in: stack.sibling()) == 0)
    }

    @Test(.guide("Creating Managed Object Relationships", "Relationship Delete Rules"), arguments: StoreKind.allCases)
    func `No action leaves the other objects where they are`(kind: StoreKind) throws {
        let team = Sketch.entity("Team", []), member = Sketch.entity("Member", [])
        let members = Sketch.relationship(team, "members", .many, to: member, rule: .noActionDeleteRule)
        Sketch.pair(members, Sketch.relationship(member, "team", .one, to: team))
        let stack = try Stack(kind, Sketch.model(team, member)), one = stack.new("Team"), last = stack.new("Member", ["team": one])
        try stack.context.save()
        stack.context.delete(one)
        stack.context.processPendingChanges()
        #expect(!last.isDeleted && !last.isUpdated)
    }

    @Test(.reference("nsrelationshipdescription/isordered"), arguments: StoreKind.allCases)
    func `An ordered relationship keeps its order in the store`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        let chapters = ["c", "a", "b"].map { stack.new("Chapter", ["heading": $0]) }
        book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
        try stack.context.save()
        #expect(try stack.only("Book", in: stack.sibling()).members("chapters").map { $0.text("heading") } == ["c", "a", "b"])
    }

    @Test(.reference("nsrelationshipdescription/isordered"), arguments: StoreKind.allCases)
    func `mutableOrderedSetValue(forKey:) changes the order`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        for heading in ["a", "b", "c"] { stack.new("Chapter", ["heading": heading, "book": book]) }
        try stack.context.save()
        let list = book.mutableOrderedSetValue(forKey: "chapters")
        list.moveObjects(at: IndexSet(integer: 2), to: 0)
        #expect(book.isUpdated)
        try stack.context.save()
        #expect(try stack.only("Book", in: stack.sibling()).members("chapters").map { $0.text("heading") } == ["c", "a", "b"])
    }

    @Test(.reference("nsrelationshipdescription/isordered"), arguments: StoreKind.allCases)
    func `A member that is set by its to-one side comes last in the order`(kind: StoreKind) throws {
        let stack = try Stack(kind), book = stack.new("Book")
        for heading in ["a", "b"] { stack.new("Chapter", ["heading": heading, "book": book]) }
        #expect(book.members("chapters").map { $0.text("heading") } == ["a", "b"])
    }

    @Test(.reference("nsrelationshipdescription"), arguments: StoreKind.allCases)
    func `A relationship's value is an NSSet, an ordered one's an NSOrderedSet`(kind: StoreKind) throws {
        let book = try Stack(kind).new("Book")
        #expect(book.value(forKey: "tags") is NSSet && book.value(forKey: "chapters") is NSOrderedSet)
    }

    @Test(.guide("Creating Managed Object Relationships", "Manipulating Relationships and Object Graph Integrity"), arguments: StoreKind.allCases)
    func `Both objects of a change of a to-one side are updated`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = try stack.saved("Author"), book = try stack.saved("Book")
        book.setValue(author, forKey: "author")
        stack.context.processPendingChanges()
        #expect(stack.context.updatedObjects == [author, book])
    }

    @Test(.header("NSRelationshipDescription", "toMany"), arguments: [(0, true), (1, false), (2, true)])
    func `maxCount 1 makes a relationship to-one, any other to-many`(maximum: Int, isToMany: Bool) {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = maximum
        #expect(relationship.isToMany == isToMany)
    }

    @Test(.reference("nsmanagedobject"), arguments: StoreKind.allCases)
    func `A mutable set writes through`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = try stack.saved("Author"), book = try stack.saved("Book")
        let set = author.mutableSetValue(forKey: "books")
        set.add(book)
        #expect(author.isUpdated && book.object("author") === author && set.count == 1)
        set.removeAllObjects()
        #expect(book.object("author") == nil)
    }

    @Test(.guide("Creating Managed Object Relationships", "Relationship Delete Rules"), arguments: StoreKind.allCases)
    func `A deleted member is in its owner's set no more`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author"), book = stack.new("Book", ["author": author])
        try stack.context.save()
        #expect(author.members("books").count == 1)
        stack.context.delete(book)
        stack.context.processPendingChanges()
        #expect(author.members("books").isEmpty)
    }

    @Test(.guide("Creating a Managed Object Model", "Entity Inheritance"), arguments: StoreKind.allCases)
    func `A relationship to an entity takes its sub-entities' objects`(kind: StoreKind) throws {
        let stack = try Stack(kind), author = stack.new("Author")
        stack.new("Novel", ["author": author])
        stack.new("Book", ["author": author])
        try stack.context.save()
        let members = try stack.only("Author", in: stack.sibling()).members("books")
        #expect(Set(members.compactMap(\.entity.name)) == ["Book", "Novel"])
    }

    @Test(.guide("Creating Managed Object Relationships", "Unidirectional Relationships"), arguments: StoreKind.allCases)
    func `A relationship without an inverse is set by itself`(kind: StoreKind) throws {
        let team = Sketch.entity("Team", []), city = Sketch.entity("City", [Sketch.attribute("name")])
        Sketch.relationship(team, "city", .one, to: city)
        let stack = try Stack(kind, Sketch.model(team, city)), place = stack.new("City", ["name": "Turin"])
        stack.new("Team", ["city": place])
        try stack.context.save()
        #expect(try stack.only("Team", in: stack.sibling()).value(forKeyPath: "city.name") as? String == "Turin")
        #expect(!place.hasChanges)
    }
}
