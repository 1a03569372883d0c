import Foundation
import SwiftData
import Testing

@Model
final class Leaflet {
    @Attribute(.textIndex) var text: String
    var title: String = ""
    var page: Int = 0

    init(text: String, page: Int) {
        self.text = text
        self.page = page
    }
}

/// Searches for words from a descriptor.
@Suite struct ModelTextSearchTests {
    @Test(arguments: [false, true]) func `Words are found by relevance, through the text index`(isInMemory: Bool) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataTests-\(UUID().uuidString).store")
        let container = try ModelContainer(
            for: Leaflet.self, configurations: isInMemory ? ModelConfiguration(isStoredInMemoryOnly: true) : ModelConfiguration(url: url))
        let context = ModelContext(container)
        let texts = ["Buy milk and honey for the long evening of the week", "Café in the Straße", "Milk, milk, milk", "no word of it"]
        for (page, text) in texts.enumerated() { context.insert(Leaflet(text: text, page: page)) }
        for page in 10..<200 { context.insert(Leaflet(text: "filler number \(page)", page: page)) }
        try context.save()
        var descriptor = FetchDescriptor<Leaflet>()
        descriptor.textSearch = try TextSearch("milk", in: [\Leaflet.text])
        for context in [context, ModelContext(container)] {
            #expect(try context.fetch(descriptor).map(\.page) == [2, 0])
            #expect(try context.fetchCount(descriptor) == 2)
            #expect(try context.values(descriptor, \.page) == [2, 0])
            let plan = try context.explain(descriptor)
            #expect(plan.parts.first?.access != .scan, "\(plan)")
        }
        descriptor.textSearch = TextSearch("caf", matchesLastWordAsPrefix: true)
        #expect(try context.fetch(descriptor).map(\.page) == [1])
        descriptor.textSearch = TextSearch("milk", sortsByRelevance: false)
        descriptor.sortBy = [SortDescriptor(\.page)]
        descriptor.predicate = #Predicate { $0.page < 100 }
        #expect(try context.fetch(descriptor).map(\.page) == [0, 2])
        context.insert(Leaflet(text: "more milk", page: 5))
        #expect(try context.fetch(descriptor).map(\.page) == [0, 2, 5])
        #expect(throws: SwiftDataError.unsupportedKeyPath) { _ = try TextSearch("x", in: [\Leaflet.text.count]) }
        #expect(try context.delete(batch: descriptor).count == 2)
    }
}
