import CoreData
import Foundation
import Testing

// A view context is the main queue's.
@MainActor @Suite struct CodableTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }

    init() {
        ValueTransformer.setValueTransformer(ColourTransformer(), forName: .colour)
        container = PersistenceController(inMemory: true).container
    }

    static let json = """
        {"name": "News", "bookmarks": [
            {"id": "3F2504E0-4F89-11D3-9A0C-0305E82C3301", "title": "B", "url": "https://b.example", "read": true},
            {"id": "3F2504E0-4F89-11D3-9A0C-0305E82C3302", "title": "A"}]}
        """

    private var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.userInfo[CodingUserInfoKey.context] = context
        return decoder
    }

    @Test func objectsAreDecodedIntoTheContextOfTheDecoder() throws {
        let group = try decoder.decode(BookmarkGroup.self, from: Data(Self.json.utf8))
        #expect(context.insertedObjects.count == 3 && group.isInserted)
        let bookmarks = group.bookmarks?.array as? [Bookmark] ?? []
        #expect(bookmarks.map(\.title) == ["B", "A"] && bookmarks.map(\.isRead) == [true, false])
        #expect(bookmarks.allSatisfy { $0.group === group && $0.createdAt == Date(timeIntervalSinceReferenceDate: 1) })
        bookmarks[0].colour = Colour(red: 0.5)
        try context.save()
        context.reset()
        let request = NSFetchRequest<BookmarkGroup>(entityName: "BookmarkGroup")
        let read = try #require(try context.fetch(request).first)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let text = String(decoding: try encoder.encode(read), as: UTF8.self)
        #expect(text.hasPrefix(#"{"bookmarks":[{"id":"3F2504E0-4F89-11D3-9A0C-0305E82C3301","read":true,"title":"B","url":"https:"#))
        #expect((read.bookmarks?.firstObject as? Bookmark)?.colour == Colour(red: 0.5))
        #expect((read.bookmarks?.lastObject as? Bookmark)?.colour == nil)
    }

    @Test func withoutAContextNothingIsDecoded() throws {
        #expect(throws: DecoderConfigurationError.self) { try JSONDecoder().decode(BookmarkGroup.self, from: Data(Self.json.utf8)) }
        #expect(throws: DecodingError.self) { try decoder.decode(Bookmark.self, from: Data(#"{"title": "x"}"#.utf8)) }
        context.rollback()
        #expect(context.insertedObjects.isEmpty)
    }

    @Test func aNumberWithoutNilIsSetAsItsClassSays() throws {
        let bookmark = Bookmark(context: context)
        bookmark.setValuesForKeys(["visits": 7, "title": "x", "isRead": true])
        #expect(bookmark.visits == 7)
        bookmark.setValue(nil, forKey: "visits")
        bookmark.setValue(nil, forKey: "isRead")
        bookmark.setValue(nil, forKey: "createdAt")
        #expect(bookmark.visits == -1 && !bookmark.isRead && bookmark.value(forKey: "isRead") == nil && bookmark.createdAt == nil)
        bookmark.setPrimitiveValue(nil, forKey: "visits")
        #expect(bookmark.value(forKey: "visits") == nil)
    }

    @Test func collectionsAreAskedForTheirMembersValues() throws {
        let group = try decoder.decode(BookmarkGroup.self, from: Data(Self.json.utf8))
        let bookmarks = try #require(group.bookmarks)
        (bookmarks[0] as? Bookmark)?.visits = 5
        #expect((bookmarks.value(forKey: "title") as? NSOrderedSet)?.array as? [String] == ["B", "A"])
        #expect(NSArray(array: bookmarks.array).value(forKey: "title") as? [String] == ["B", "A"])
        #expect((NSArray(array: bookmarks.array).value(forKey: "url") as? NSArray)?[1] is NSNull)
        #expect(NSSet(array: bookmarks.array).value(forKeyPath: "url.host") as? Set<String> == [])
        #expect(NSSet(array: bookmarks.array).value(forKeyPath: "group.name") as? Set<String> == ["News"])
        #expect(bookmarks.value(forKeyPath: "@sum.visits") as? Int == 5 && bookmarks.value(forKeyPath: "@count") as? Int == 2)
        #expect(NSArray().value(forKeyPath: "@max.visits") == nil)
        let rows = NSFetchRequest<NSDictionary>(entityName: "Bookmark")
        rows.resultType = .dictionaryResultType
        try context.save()
        let found = try context.fetch(rows)
        #expect(Set(found.compactMap { $0.value(forKey: "title") as? String }) == ["A", "B"])
        let values = NSMutableDictionary()
        values.setValue(3, forKey: "x")
        values.setValue(nil, forKey: "y")
        #expect(values.value(forKey: "x") as? Int == 3 && values.count == 1)
        values.setValue(nil, forKey: "x")
        #expect(values.count == 0)
    }
}
