import Foundation
import SwiftData
import Testing

@Suite struct MacroModelTests {
    private func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test
    func `A model with each form of property is saved and fetched`() throws {
        let container = try container(MacroBook.self, MacroAuthor.self)
        let context = ModelContext(container)
        let book = MacroBook(title: "T", author: MacroAuthor(name: "A"))
        book.visit()
        book.default = "e"
        book.second = "2"
        book.status = .done
        book.size.width = 7
        context.insert(book)
        try context.save()

        let other = ModelContext(container)
        let found = try #require(try other.fetch(FetchDescriptor<MacroBook>(predicate: #Predicate { $0.title == "T" })).first)
        #expect(found !== book)
        #expect(found.pages == 10 && found.tags == ["a, b", "{"] && found.status == .done && found.rating == 3 && found.visits == 1)
        #expect(found.default == "e" && found.first == 1 && found.second == "2" && found.cover == nil && found.text == "several \"lines\" } {")
        #expect(found.size == MacroBook.Size(width: 7, height: 2) && found.words == ["T"] && !found.isLong)
        #expect(found.author?.name == "A" && found.author?.books == [found])
    }

    @Test
    func `Observers of a persisted property run before and after its change`() throws {
        let book = MacroBook(title: "T")
        book.rating = 9
        #expect(book.rating == 5 && book.announced == 9 && book.gained == 2)
        book.rating = 0
        #expect(book.rating == 0 && book.announced == 0 && book.gained == 2)
    }

    @Test
    func `The schema has the properties of the source, with their values and statements`() throws {
        let entity = try #require(Schema([MacroBook.self, MacroAuthor.self]).entitiesByName["MacroBook"])
        #expect(Set(entity.attributes.map(\.name)) == [
            "title", "pages", "tags", "status", "rating", "visits", "default", "first", "second", "cover", "text", "size",
        ])
        #expect(entity.attributesByName["status"]?.defaultValue as? BookStatus == .active)
        #expect(entity.attributesByName["title"]?.originalName == "name" && entity.attributesByName["title"]?.isUnique == true)
        #expect(entity.relationshipsByName["author"]?.inverseName == "books")
    }

    @Test
    func `Subclasses of models keep the values of each level`() throws {
        let container = try container(MacroAuthor.self, MacroPoet.self, MacroRapper.self, MacroBook.self)
        let context = ModelContext(container)
        context.insert(MacroRapper(name: "R", beats: 90))
        context.insert(MacroPoet(name: "P", form: "ode"))
        try context.save()

        let other = ModelContext(container)
        let rapper = try #require(try other.fetch(FetchDescriptor<MacroRapper>()).first)
        #expect(rapper.name == "R" && rapper.form == "rap" && rapper.verses == 1 && rapper.beats == 90)
        #expect(try other.fetch(FetchDescriptor<MacroAuthor>(sortBy: [SortDescriptor(\.name)])).map(\.name) == ["P", "R"])
    }

    @Test
    func `Models inside of other types, and in extensions, are models`() async throws {
        let container = try container(MacroOuter.Inner.self, MacroOuter.Other.self)
        let context = ModelContext(container)
        context.insert(MacroOuter.Other(number: 4))
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<MacroOuter.Other>()).map(\.number) == [4])
        #expect(try await MacroWorker(modelContainer: container).add(3) == 1)
    }

    @Test
    func `A change of a persisted property is observed`() {
        let book = MacroBook(title: "T")
        nonisolated(unsafe) var changes = 0
        withObservationTracking { _ = book.pages } onChange: { changes += 1 }
        book.title = "U"
        #expect(changes == 0)
        book.pages = 3
        #expect(changes == 1)
    }
}
