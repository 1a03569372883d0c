import Foundation
@testable import HeartwoodSQLite
import Testing

@testable import Heartwood

/// The names of join tables in new stores, beside names that were seen in real ones. The entities are cut down to the relationships.
@Suite struct JoinTableNameTests {
    /// A store that was seen: its entities with their superentities, its relationships, and its join tables.
    struct Seen: CustomTestStringConvertible {
        let testDescription: String
        let entities: [(name: String, parent: String?)]
        /// The relationship, and its inverse with the entity that has it.
        let pairs: [(entity: String, name: String, isOrdered: Bool, other: String, inverse: String, isInverseOrdered: Bool)]
        let statements: [String]
    }

    static let seen = [
        Seen(
            testDescription: "Photos: an inherited relationship is met at the subentity, whose name comes first",
            entities: [
                ("AlbumList", nil), ("Asset", nil), ("GenericAlbum", nil), ("Album", "GenericAlbum"), ("Memory", nil), ("Suggestion", nil),
            ],
            pairs: [
                ("AlbumList", "albums", true, "GenericAlbum", "albumLists", false), ("Album", "assets", true, "Asset", "albums", false),
                ("Asset", "suggestionsBeingRepresentativeAssets", false, "Suggestion", "representativeAssets", false),
                ("Asset", "memoriesBeingRepresentativeAssets", false, "Memory", "representativeAssets", false),
                ("Memory", "customUserAssets", true, "Asset", "memoriesBeingCustomUserAssets", false),
            ],
            statements: [
                "Z_2MEMORIESBEINGCUSTOMUSERASSETS ( Z_2CUSTOMUSERASSETS, Z_5MEMORIESBEINGCUSTOMUSERASSETS, Z_FOK_2CUSTOMUSERASSETS",
                "Z_2MEMORIESBEINGREPRESENTATIVEASSETS ( Z_2REPRESENTATIVEASSETS, Z_5MEMORIESBEINGREPRESENTATIVEASSETS",
                "Z_2SUGGESTIONSBEINGREPRESENTATIVEASSETS ( Z_2REPRESENTATIVEASSETS1, Z_6SUGGESTIONSBEINGREPRESENTATIVEASSETS",
                "Z_3ALBUMLISTS ( Z_3ALBUMS, Z_1ALBUMLISTS, Z_FOK_3ALBUMS", "Z_4ASSETS ( Z_4ALBUMS, Z_2ASSETS, Z_FOK_2ASSETS",
            ]),
        Seen(
            testDescription: "Notes: of two subentities the one whose name comes first, not the lower number",
            entities: [("ICObject", nil), ("ICNote", "ICObject"), ("ICContainer", "ICObject"), ("ICFolder", "ICContainer")],
            pairs: [("ICFolder", "notes", false, "ICNote", "folders", false)],
            statements: ["Z_3NOTES ( Z_3FOLDERS, Z_4NOTES"]),
        Seen(
            testDescription: "Contacts: digits are given by entity numbers, whichever table comes first",
            entities: [("Record", nil), ("ABContact", "Record"), ("ABContainer", "Record"), ("ABGroup", "ABContainer"), ("Aaa", "Record")],
            pairs: [
                ("ABContact", "parentGroups", false, "ABGroup", "contacts", false),
                ("Aaa", "parentGroups", false, "ABGroup", "childGroups", false),
            ],
            statements: [
                "Z_2PARENTGROUPS ( Z_2CHILDGROUPS, Z_5PARENTGROUPS", "Z_3PARENTGROUPS ( Z_3CONTACTS, Z_5PARENTGROUPS1",
            ]),
        Seen(
            testDescription: "CareKit: the number decides, not its digits",
            entities: [("A", nil), ("B", nil), ("Note", nil)] + (0..<8).map { ("P\($0)", nil) } + [("Task", nil)],
            pairs: [("Task", "notes", false, "Note", "task", false)],
            statements: ["Z_3TASK ( Z_3NOTES, Z_12TASK"]),
        Seen(
            testDescription: "Bookmarks: of two sides of one entity the last by name",
            entities: [("BookmarkEntity", nil)],
            pairs: [("BookmarkEntity", "favorites", true, "BookmarkEntity", "favoriteFolders", false)],
            statements: ["Z_1FAVORITES ( Z_1FAVORITEFOLDERS, Z_1FAVORITES, Z_FOK_1FAVORITES"]),
    ]

    private static func entities(_ seen: Seen) -> [NSEntityDescription] {
        var entities: [String: NSEntityDescription] = [:]
        for (name, _) in seen.entities {
            entities[name] = NSEntityDescription()
            entities[name]?.name = name
        }
        for pair in seen.pairs {
            guard let entity = entities[pair.entity], let other = entities[pair.other] else { continue }
            let relationship = TestStack.relationship(pair.name, to: other, toMany: true, ordered: pair.isOrdered)
            let inverse = TestStack.relationship(pair.inverse, to: entity, toMany: true, ordered: pair.isInverseOrdered)
            TestStack.connect(relationship, inverse)
            entity.properties.append(relationship)
            other.properties.append(inverse)
        }
        for (name, parent) in seen.entities {
            if let entity = entities[name], let parent { entities[parent]?.subentities.append(entity) }
        }
        return seen.entities.compactMap { entities[$0.name] }
    }

    @Test(arguments: seen)
    func `A new store's join tables have the names that were seen`(seen: Seen) throws {
        let model = NSManagedObjectModel(), entities = Self.entities(seen)
        model.entities = entities
        model.makeImmutable()
        let tables = try CoreDataTables(entities, EntityNumbers.computed(for: entities), path: "new")
        let statements = tables.joins.map { "\($0.table) ( \($0.columns.joined(separator: ", "))" }
        #expect(statements.sorted() == seen.statements)
    }
}
