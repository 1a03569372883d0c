import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

@Suite struct CoreDataLayoutTests {
    /// The tables of a file by their columns.
    private static func schema(_ tables: [String: String], indexes: Set<String> = []) -> CoreDataSchema {
        CoreDataSchema(
            tables: tables.mapValues { columns in
                columns.split(separator: " ").map { CoreDataSchema.Column(name: String($0), declaredType: "INTEGER") }
            }, indexes: indexes)
    }

    private static func entity(
        _ name: String, _ properties: [NSPropertyDescription] = [], _ subentities: [NSEntityDescription] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        entity.subentities = subentities
        return entity
    }

    private static func layout(
        _ entities: [NSEntityDescription], _ tables: [String: String], numbers: [EntityNumbers.Entry]? = nil
    ) throws -> CoreDataLayout {
        let model = NSManagedObjectModel()
        model.entities = entities
        model.makeImmutable()
        return try CoreDataLayout(
            model.entities, numbers.map(EntityNumbers.init) ?? .computed(for: model.entities), schema(tables), path: "/store")
    }

    private static func place(_ layout: CoreDataLayout, _ entity: NSEntityDescription, _ property: String) -> CoreDataLayout.Place? {
        entity.propertyIndexByName[property].flatMap { layout.entity(entity)?.places[$0] }
    }

    private static func text(_ name: String) -> NSAttributeDescription { TestStack.attribute(name, .stringAttributeType) }
    private static let own = "Z_PK Z_ENT Z_OPT"

    @Test
    func `Numbers go by names without regard to case, each hierarchy depth-first`() {
        let leaf = Self.entity("Ape"), middle = Self.entity("zebra", [], [leaf]), other = Self.entity("Bear")
        let entities = [Self.entity("cup"), Self.entity("Beast", [], [middle, other]), middle, leaf, other, Self.entity("Cap")]
        let model = NSManagedObjectModel()
        model.entities = entities
        let numbers = EntityNumbers.computed(for: model.entities)
        #expect(numbers.entries.map(\.name) == ["Beast", "Bear", "zebra", "Ape", "Cap", "cup"])
        #expect(numbers.entries.map(\.parent) == [0, 1, 1, 3, 0, 0] && numbers.entries.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(numbers.root(of: 4) == 1 && numbers.root(of: 6) == 6)
    }

    @Test
    func `Numbers whose superentities make a circle have no root`() {
        let entry = { EntityNumbers.Entry(number: $0, name: "E\($0)", parent: $1, keyMax: 0) }
        #expect(EntityNumbers([entry(1, 2), entry(2, 1), entry(3, 0)]).root(of: 1) == nil)
    }

    @Test
    func `One name of several entities gets digits by entity number, and a composite's leaves by their place`() throws {
        let author = NSCompositeAttributeDescription(), prep = NSCompositeAttributeDescription()
        (author.name, prep.name) = ("author", "prep")
        author.elements = [Self.text("id")]
        prep.elements = [Self.text("id")]
        let second = Self.entity("Second", [Self.text("title")]), first = Self.entity("First", [Self.text("title"), Self.text("Title2")])
        let root = Self.entity("Base", [Self.text("id"), prep, author], [second, first])
        let layout = try Self.layout([root, first, second], ["ZBASE": "\(Self.own) ZID ZID1 ZID2 ZTITLE ZTITLE1 ZTITLE2"])
        #expect(layout.differences == [])
        #expect(["author.id", "id", "prep.id"].map { Self.place(layout, root, $0) } == [.column("ZID"), .column("ZID1"), .column("ZID2")])
        #expect(Self.place(layout, first, "title") == .column("ZTITLE") && Self.place(layout, second, "title") == .column("ZTITLE1"))
        #expect(Self.place(layout, first, "Title2") == .column("ZTITLE2") && Self.place(layout, second, "prep.id") == .column("ZID2"))
        #expect(Self.place(layout, root, "author") == nil)
    }

    @Test
    func `Where the file has other digits, the file's column is taken`() throws {
        let a = Self.entity("A", [Self.text("title")]), b = Self.entity("B", [Self.text("title")]), root = Self.entity("Base", [], [a, b])
        let layout = try Self.layout([root, a, b], ["ZBASE": "\(Self.own) ZTITLE ZTITLE3"])
        #expect(Self.place(layout, a, "title") == .column("ZTITLE") && Self.place(layout, b, "title") == .column("ZTITLE3"))
    }

    @Test
    func `A property without a column is an error that names entity, property and column; so is an entity without a number or a table`() {
        let make = { Self.entity("Book", [Self.text("title"), Self.text("pages")]) }
        func refusal(_ tables: [String: String], _ numbers: [EntityNumbers.Entry]? = nil) -> NSError? {
            #expect(throws: (any Error).self) { try Self.layout([make()], tables, numbers: numbers) } as NSError?
        }
        let error = refusal(["ZBOOK": "\(Self.own) ZTITLE"])
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError && error?.userInfo["entity"] as? String == "Book")
        #expect(error?.userInfo["property"] as? String == "pages" && error?.localizedDescription.contains("ZPAGES") == true)
        #expect(refusal(["ZBOOKS": Self.own])?.localizedDescription.contains("no table ZBOOK ") == true)
        #expect(refusal(["ZBOOK": "Z_PK ZTITLE ZPAGES"])?.localizedDescription.contains("no column Z_ENT") == true)
        #expect(refusal(["ZBOOK": "\(Self.own) ZTITLE ZPAGES"], [])?.localizedDescription.contains("no entity Book") == true)
        #expect(refusal(["ZBOOK": "\(Self.own) ZTITLE1 ZTITLE2 ZPAGES"])?.userInfo["property"] as? String == "title")
    }

    @Test
    func `Columns and tables that the model does not explain are the differences`() throws {
        let layout = try Self.layout(
            [Self.entity("Book", [Self.text("title")])],
            ["ZBOOK": "\(Self.own) ZTITLE ZPAGES", "ZSHELF": Self.own, "Z_METADATA": "Z_UUID", "ACHANGE": "Z_PK", "Z_RT_Book_a_node": "x"])
        #expect(layout.differences == ["the column ZBOOK.ZPAGES is of no property", "the table ZSHELF is of no entity"])
    }

    @Test
    func `An entity that a migration has renamed is found by its renaming identifier`() throws {
        let book = Self.entity("Book")
        book.renamingIdentifier = "Volume"
        let layout = try Self.layout([book], ["ZBOOK": Self.own], numbers: [.init(number: 4, name: "Volume", parent: 0, keyMax: 0)])
        #expect(layout.entity(book)?.number == 4)
    }

    // MARK: Relationships

    /// Persons and teams: persons have subentities, teams none.
    private static func teams(ordered: Bool) -> (person: NSEntityDescription, team: NSEntityDescription, child: NSEntityDescription) {
        let child = entity("Child"), person = entity("Person", [], [child]), team = entity("Team")
        let members = TestStack.relationship("members", to: person, toMany: true, ordered: ordered)
        let teams = TestStack.relationship("teams", to: team, toMany: true)
        TestStack.connect(members, teams)
        let lead = TestStack.relationship("lead", to: person, toMany: false)
        let friends = TestStack.relationship("friends", to: person, toMany: true)
        friends.inverseRelationship = friends
        team.properties = [members, lead]
        person.properties = [teams, friends]
        return (person, team, child)
    }

    @Test(arguments: [ ("Z_2TEAMS", "Z_3TEAMS Z_2MEMBERS"), ("Z_3MEMBERS", "Z_2MEMBERS Z_3TEAMS"), ("Z_3MEMBERS1", "Z_3TEAMS1 Z_2MEMBERS2"), ])
    func `A join table is found under either side's name, with digits or without`(table: String, columns: String) throws {
        let (person, team, child) = Self.teams(ordered: true)
        let layout = try Self.layout([person, team, child], [
            "ZPERSON": Self.own, "ZTEAM": "\(Self.own) ZLEAD Z2_LEAD", table: "\(columns) Z_FOK_2MEMBERS",
            "Z_2FRIENDS": "Z_2FRIENDS REFLEXIVE",
        ], numbers: [
            .init(number: 1, name: "Other", parent: 0, keyMax: 0), .init(number: 2, name: "Person", parent: 0, keyMax: 0),
            .init(number: 3, name: "Team", parent: 0, keyMax: 0), .init(number: 4, name: "Child", parent: 2, keyMax: 0),
        ])
        let names = columns.split(separator: " ").map(String.init)
        let persons = try #require(names.first { $0.contains("MEMBERS") }), teams = try #require(names.first { $0.contains("TEAMS") })
        #expect(Self.place(layout, team, "members") == .join(JoinTableNames(
            table: table, source: teams, destination: persons, order: "Z_FOK_2MEMBERS", isReflexive: false)))
        #expect(Self.place(layout, child, "teams") == .join(JoinTableNames(
            table: table, source: persons, destination: teams, order: nil, isReflexive: false)))
        #expect(Self.place(layout, person, "friends") == .join(JoinTableNames(
            table: "Z_2FRIENDS", source: "REFLEXIVE", destination: "Z_2FRIENDS", order: nil, isReflexive: true)))
        #expect(Self.place(layout, team, "lead") == .toOne("ZLEAD", entity: "Z2_LEAD") && layout.differences == [])
    }

    @Test
    func `A to-many relationship is its inverse's column, or one with the owner's number without an inverse`() throws {
        let note = Self.entity("Note"), book = Self.entity("Book")
        let owner = TestStack.relationship("book", to: book, toMany: false)
        let notes = TestStack.relationship("notes", to: note, toMany: true, ordered: true)
        TestStack.connect(owner, notes)
        book.properties = [notes, TestStack.relationship("marks", to: note, toMany: true, ordered: true)]
        note.properties = [owner]
        let layout = try Self.layout([book, note], ["ZBOOK": Self.own, "ZNOTE": "\(Self.own) ZBOOK Z_FOK_BOOK Z1MARKS Z_FOK_1MARKS"])
        #expect(Self.place(layout, book, "notes") == .inverse(table: "ZNOTE", column: "ZBOOK", order: "Z_FOK_BOOK"))
        #expect(Self.place(layout, book, "marks") == .inverse(table: "ZNOTE", column: "Z1MARKS", order: "Z_FOK_1MARKS"))
        #expect(layout.differences == [])
    }

    // MARK: History

    @Test
    func `Bits of changed columns are to-ones, keys, attributes, to-manys, each of the root first and by name`() throws {
        let (person, team, child) = Self.teams(ordered: false)
        let kept = Self.text("badge"), name = Self.text("name")
        kept.preservesValueInHistoryOnDeletion = true
        team.properties += [name, kept]
        let layout = try Self.layout([person, team, child], [
            "ZPERSON": Self.own, "ZTEAM": "\(Self.own) ZLEAD Z2_LEAD ZNAME ZBADGE", "Z_2TEAMS": "Z_2MEMBERS Z_3TEAMS",
            "Z_2FRIENDS": "Z_2FRIENDS REFLEXIVE",
        ], numbers: [
            .init(number: 2, name: "Person", parent: 0, keyMax: 0), .init(number: 3, name: "Team", parent: 0, keyMax: 0),
            .init(number: 4, name: "Child", parent: 2, keyMax: 0),
        ])
        let columns = CoreDataHistoryColumns(of: try #require(layout.entity(team)))
        #expect(columns.slots.map { $0.map { team.propertiesByIndex[$0].name } } == ["lead", nil, "badge", "name", "members"])
        #expect(columns.tombstones.map { team.propertiesByIndex[$0].name } == ["badge"])
        #expect(columns.properties(in: [0b1011_1000]).map { team.propertiesByIndex[$0].name } == ["lead", "badge", "name", "members"])
        #expect(columns.properties(in: [0b0100_0111, 0xFF]) == [] && columns.properties(in: [UInt8]()) == [])
    }
}
