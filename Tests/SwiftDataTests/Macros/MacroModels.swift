import Foundation
import SwiftData

enum BookStatus: String, Codable { case active, done }

/// A model with each form of property that the macros read.
@Model final class MacroBook {
    #Index<MacroBook>([\.title], [\.pages, \.title])
    #Unique<MacroBook>([\.title])

    /// A title, in an attribute over several lines.
    @Attribute(
        .unique, // not twice )
        originalName: "name" /* ( */
    )
    var title: String
    var pages = 100
    @Relationship(inverse: \MacroAuthor.books) var author: MacroAuthor?
    var tags: [String] = ["a, b", "{"]  // a comma, and } a brace
    var status: BookStatus = .active
    var rating: Int = 3 {
        willSet(new) { announced = new }
        didSet {
            if rating == 0 { return }
            rating = min(rating, 5)
            gained += rating - oldValue
        }
    }
    @Transient var announced = 0
    @Transient var gained = 0
    @Transient lazy var words: [String] = [title]
    static let shelf = 1
    var isLong: Bool { pages > 500 }
    private(set) var visits: Int = 0
    var `default`: String = "d"
    #if HEARTWOOD_NEVER
        var never: Int = 1
    #elseif swift(>=6)
        var first: Int = 1
        var second: String = "two"
    #else
        var older: Int = 1
    #endif
    @Attribute(.externalStorage) var cover: Data?
    var text = """
        several "lines" } {
        """
    struct Size: Codable, Equatable { var width = 1, height = 2 }
    var size: Size = Size()

    init(title: String, pages: Int = 10, author: MacroAuthor? = nil) {
        self.title = title
        self.pages = pages
        self.author = author
    }

    func visit() { visits += 1 }
}

@Model class MacroAuthor {
    var name: String
    @Relationship(deleteRule: .cascade) var books: [MacroBook] = []
    init(name: String) { self.name = name }
}

@Model class MacroPoet: MacroAuthor {
    var form: String
    var verses: Int = 1
    init(name: String, form: String) {
        self.form = form
        super.init(name: name)
    }
}

@Model final class MacroRapper: MacroPoet {
    var beats: Int
    init(name: String, beats: Int) {
        self.beats = beats
        super.init(name: name, form: "rap")
    }
}

public enum MacroOuter {
    @Model public final class Inner {
        public var number: Int
        public init(number: Int) { self.number = number }
    }
}

extension MacroOuter {
    @Model final class Other {
        var number: Int
        init(number: Int) { self.number = number }
    }
}

@ModelActor actor MacroWorker {
    func add(_ number: Int) throws -> Int {
        modelContext.insert(MacroOuter.Inner(number: number))
        try modelContext.save()
        return try modelContext.fetchCount(FetchDescriptor<MacroOuter.Inner>())
    }
}
