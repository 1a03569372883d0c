import Foundation
import Observation
import SwiftData
import Testing

/// Which models a context holds, and when it lets go of them: docs/internals/swiftdata.md, "Which models are held".
@Suite struct HeldModelTests {
    private let container: ModelContainer
    private let ends = Ends()

    init() throws {
        container = try ModelContainer(for: Glider.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Glider(code: "a", friend: Glider(code: "b")))
        try context.save()
    }

    private func glider(_ context: ModelContext) throws -> Glider {
        let glider = try #require(try context.fetch(FetchDescriptor<Glider>(predicate: #Predicate { $0.code == "a" })).first)
        glider.ends = ends
        return glider
    }

    private func use(_ context: ModelContext) throws { _ = try context.fetchCount(FetchDescriptor<Glider>()) }

    @Test func `A model that the program has let go of ends at the next use of its context`() throws {
        let context = ModelContext(container)
        do { _ = try glider(context) }
        #expect(ends.count == 0)
        try use(context)
        #expect(ends.count == 1)
        do {
            let glider = try glider(context)
            try use(context)
            #expect(try self.glider(context) === glider)
        }
        #expect(ends.count == 1)
        try use(context)
        #expect(ends.count == 2)
    }

    @Test(arguments: [false, true]) func `A changed model stays until the save`(isRolledBack: Bool) throws {
        let context = ModelContext(container)
        do {
            let glider = try glider(context)
            glider.weight = 3
        }
        for _ in 0..<3 { try use(context) }
        #expect(ends.count == 0)
        #expect(try glider(context).weight == 3)
        if isRolledBack { context.rollback() } else { try context.save() }
        try use(context)
        #expect(ends.count == 1)
        #expect(try glider(context).weight == (isRolledBack ? 5 : 3))
    }

    @Test func `The end of a model may use its context`() throws {
        let context = ModelContext(container)
        var found = 0
        do {
            let glider = try glider(context)
            ends.work = { found += (try? context.fetch(FetchDescriptor<Glider>()).count) ?? 0 }
            glider.weight = 4
        }
        try context.save()
        try use(context)
        #expect(ends.count == 1 && found == 2)
        ends.work = nil
    }

    @Test func `A model can be read after its context has gone, and ends with its last reference`() throws {
        do {
            let glider = try glider(ModelContext(container))
            #expect(glider.code == "a" && glider.friend?.code == "b" && glider.friend === glider.friend)
            glider.weight = 2
            #expect(glider.weight == 2 && ends.count == 0)
        }
        #expect(ends.count == 1)
        do {
            let context = ModelContext(container)
            context.insert(Glider(code: "c", ends: ends))
            let kept = try glider(context)
            kept.weight = 2
        }
        #expect(ends.count == 3)
    }

    @Test(arguments: Removal.allCases, [false, true])
    func `An observer may take a model out of its context while a property is set`(removal: Removal, isNew: Bool) throws {
        let context = ModelContext(container)
        nonisolated(unsafe) let glider: Glider
        if isNew {
            glider = Glider(code: "n", ends: ends)
            context.insert(glider)
        } else {
            glider = try self.glider(context)
        }
        nonisolated(unsafe) let run = { try? removal.run(context, glider) }
        withObservationTracking { _ = (glider.weight, glider.friend) } onChange: { run() }
        glider.weight = 7
        #expect(glider.weight == 7)
        withObservationTracking { _ = (glider.weight, glider.friend) } onChange: { run() }
        glider.friend = Glider(code: "f")
        #expect(glider.friend?.code == "f")
        try? context.save()
    }

    enum Removal: CaseIterable {
        case rollback, deletion, savedDeletion

        func run(_ context: ModelContext, _ glider: Glider) throws {
            if self == .rollback { return context.rollback() }
            context.delete(glider)
            if self == .savedDeletion { try context.save() }
        }
    }

    @Test func `An explicit nil replaces a default`() throws {
        let context = ModelContext(container)
        let glider = Glider(code: "n")
        glider.length = nil
        glider.point = nil
        context.insert(glider)
        context.insert(Glider(code: "o"))
        #expect(glider.length == nil && glider.point == nil)
        try context.save()
        let found = try ModelContext(container).fetch(FetchDescriptor<Glider>(sortBy: [SortDescriptor(\.code)])).suffix(2)
        #expect(found.map(\.length) == [nil, 5])
        #expect(found.map(\.point) == [nil, Glider.Point(x: 1)])
    }

    @Test func `Two models of which one was merged into the other are read and written as one`() throws {
        let context = ModelContext(container)
        let first = try glider(context), second = Glider(code: "a", ends: ends)
        second.weight = 8
        context.insert(second)
        try context.save()
        #expect(first.weight == 8 && second.weight == 8)
        second.weight = 9
        #expect(first.weight == 9)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Glider>(predicate: #Predicate { $0.weight == 9 })) == 1)
        #expect(try glider(context) === first)
        context.delete(second)
        try context.save()
        #expect(first.weight == 9 && second.weight == 9)
    }
}

/// What counts the ends of models.
final class Ends {
    var count = 0
    /// What the end of a model does.
    var work: (() -> Void)?
}

@Model final class Glider {
    struct Point: Codable, Equatable {
        var x: Int
    }

    @Attribute(.unique) var code: String
    var weight: Int = 5
    var length: Int? = 5
    var point: Point? = Point(x: 1)
    var friend: Glider?
    @Transient var ends: Ends?

    init(code: String, friend: Glider? = nil, ends: Ends? = nil) {
        self.code = code
        self.friend = friend
        self.ends = ends
    }

    deinit {
        ends?.count += 1
        ends?.work?()
    }
}
