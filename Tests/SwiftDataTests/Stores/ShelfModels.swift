import Foundation
import HeartwoodSwiftData

enum ShelfKind: String, Codable { case novel, essay }

struct ShelfPlace: Codable, Equatable {
    var room: String
    var row: Int?
    var kind: ShelfKind
}

@Model final class ShelfPublisher {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \ShelfBook.publisher) var books: [ShelfBook] = []

    init(name: String) { self.name = name }
}

/// A property of each type of values.
@Model final class ShelfBook {
    var title: String
    var pages: Int = 0
    var small: Int16 = 0
    var rating: Double?
    var ratio: Float = 0
    var price: Decimal = 0
    var added: Date = Date(timeIntervalSinceReferenceDate: 0)
    var due: Date?
    var cover: Data?
    var code: UUID = UUID()
    var link: URL?
    var isLent: Bool = false
    var kind: ShelfKind = ShelfKind.novel
    var mood: ShelfKind?
    var place: ShelfPlace = ShelfPlace(room: "hall", row: nil, kind: .novel)
    var other: ShelfPlace?
    var tags: [String] = []
    var notes: [String: Int] = [:]
    var publisher: ShelfPublisher?
    var readers: [ShelfReader] = []

    init(title: String, pages: Int = 0, publisher: ShelfPublisher? = nil) {
        self.title = title
        self.pages = pages
        self.publisher = publisher
    }
}

@Model final class ShelfReader {
    var name: String
    @Relationship(inverse: \ShelfBook.readers) var books: [ShelfBook] = []

    init(name: String) { self.name = name }
}

@Model class ShelfItem {
    var name: String

    init(name: String) { self.name = name }
}

@Model class ShelfLamp: ShelfItem {
    var watts: Int = 3

    init(name: String, watts: Int) {
        self.watts = watts
        super.init(name: name)
    }
}
