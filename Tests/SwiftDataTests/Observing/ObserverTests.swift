import Foundation
import HeartwoodSwiftData
import Synchronization
import Testing

@Suite struct SwiftDataObserverTests {
    private let store = TestStore()

    private func trip(_ name: String, _ days: Int = 1, note: String? = nil) -> HistoryTrip {
        let trip = HistoryTrip(name: name)
        trip.days = days
        trip.note = note
        return trip
    }

    /// Waits at most ten seconds.
    private func wait(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async throws {
        // An observer tells nobody that it has finished: its results are what there is to look at.
        for _ in 0..<1000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(condition())
    }

    // MARK: Results

    @MainActor @Test func `results follow unsaved changes of the main context, and tell observers`() async throws {
        let context = try store.trips().mainContext
        context.autosaveEnabled = false
        context.insert(trip("b"))
        let observer = try ResultsObserver<HistoryTrip, Never>(sortBy: [SortDescriptor(\.name)], modelContext: context)
        #expect(observer.results.map(\.name) == ["b"])
        #expect(observer.sections == nil)
        let told = Atomic<Bool>(false)
        withObservationTracking { _ = observer.results.count } onChange: { told.store(true, ordering: .relaxed) }
        let first = trip("a")
        context.insert(first)
        try await wait { told.load(ordering: .relaxed) }
        #expect(observer.results.map(\.name) == ["a", "b"])
        first.name = "c"
        #expect(observer.results.map(\.name) == ["b", "c"])
        context.delete(first)
        #expect(observer.results.map(\.name) == ["b"])
    }

    @MainActor @Test func `saves of other contexts come by themselves`() async throws {
        let container = try store.trips()
        let observer = try ResultsObserver<HistoryTrip, Never>(filterBy: #Predicate { $0.days > 2 }, modelContainer: container)
        let told = Atomic<Bool>(false)
        withObservationTracking { _ = observer.results } onChange: { told.store(true, ordering: .relaxed) }
        let other = ModelContext(container)
        other.insert(trip("x", 5))
        other.insert(trip("y", 1))
        try other.save()
        try await wait { told.load(ordering: .relaxed) }
        #expect(observer.results.map(\.name) == ["x"])
    }

    @MainActor @Test func `saves of another process come by themselves`() async throws {
        let container = try store.trips()
        let observer = try ResultsObserver<HistoryTrip, Never>(modelContainer: container)
        #expect(observer.results.isEmpty)
        let told = Atomic<Bool>(false)
        withObservationTracking { _ = observer.results } onChange: { told.store(true, ordering: .relaxed) }
        // Another container stands for another process: both learn of the other's commits from the file.
        let other = ModelContext(try store.trips())
        other.insert(trip("x"))
        try other.save()
        try await wait { told.load(ordering: .relaxed) }
        #expect(observer.results.map(\.name) == ["x"])
    }

    @Test func `sections have the names of the key path, in their order`() throws {
        let context = ModelContext(try store.trips())
        for (name, days, note) in [("a", 1, "z"), ("b", 2, "y"), ("c", 3, "z"), ("d", 4, nil)] { context.insert(trip(name, days, note: note)) }
        try context.save()
        let observer = try ResultsObserver<HistoryTrip, String>(
            sortBy: [SortDescriptor(\.days, order: .reverse)], sectionBy: \.note, modelContext: context)
        let sections = try #require(observer.sections)
        #expect(sections.sectionTitles == ["", "y", "z"])
        #expect(sections.map { $0.map(\.name) } == [["d"], ["b"], ["c", "a"]])
        #expect(sections[sectionTitle: "z"]?.map(\.name) == ["c", "a"])
        #expect(sections[sectionTitle: "none"] == nil)
        #expect(sections.contains(sectionTitle: "y"))
        #expect(sections.index(ofSectionTitled: "z") == 2)
        #expect(sections == observer.sections)
        #expect(observer.element(at: IndexPath(indexes: [2, 1]))?.name == "a")
        for path in [[2, 2], [3, 0], [0, -1], [-1, 0], [0], []] { #expect(observer.element(at: IndexPath(indexes: path)) == nil) }
        let a = try #require(observer.element(at: IndexPath(indexes: [2, 1])))
        #expect(observer.indexPath(for: a) == IndexPath(indexes: [2, 1]))
        #expect(observer.indexPath(for: trip("new")) == nil)
        a.note = "y"
        #expect(observer.sections?.map { $0.map(\.name) } == [["d"], ["b", "a"], ["c"]])
        #expect(sections.map(\.count) == [1, 1, 2])
    }

    @Test func `other terms fetch again, and impossible ones keep the results`() throws {
        let context = ModelContext(try store.trips())
        for number in 0..<4 { context.insert(trip("\(number)", number)) }
        let observer = try ResultsObserver<HistoryTrip, Never>(sortBy: [SortDescriptor(\.days)], modelContext: context)
        observer.filterBy = #Predicate { $0.days > 1 }
        #expect(observer.results.map(\.days) == [2, 3])
        observer.sortBy = [SortDescriptor(\.days, order: .reverse)]
        #expect(observer.results.map(\.days) == [3, 2])
        observer.filterBy = #Predicate { $0.tags.contains("x") }
        #expect(observer.fetchError as? SwiftDataError == .unsupportedPredicate)
        #expect(observer.results.map(\.days) == [3, 2])
        observer.fetchDescriptor = FetchDescriptor()
        #expect(observer.fetchError == nil)
        #expect(observer.results.count == 4)
        #expect(throws: SwiftDataError.unsupportedPredicate) {
            try ResultsObserver<HistoryTrip, Never>(filterBy: #Predicate { $0.tags.contains("x") }, modelContext: context)
        }
    }

    // MARK: History

    @Test func `an observer of the history counts the commits that concern it`() async throws {
        let container = try store.trips()
        let all = try HistoryObserver(modelContainer: container)
        let cars = try HistoryObserver(observedModels: [HistoryVehicle.self], modelContainer: container)
        let sync = try HistoryObserver(authors: ["sync"], modelContainer: container)
        let told = Atomic<Bool>(false)
        withObservationTracking { _ = sync.eventCounter } onChange: { told.store(true, ordering: .relaxed) }
        func isTold() -> Bool { told.load(ordering: .relaxed) }
        let context = ModelContext(container)
        context.insert(trip("a"))
        try context.save()
        try await wait { all.eventCounter == 1 }
        context.insert(HistoryCar(name: "Uno", doors: 3))
        try context.save()
        try await wait { all.eventCounter == 2 && cars.eventCounter == 1 }
        #expect(!isTold())
        let other = ModelContext(try store.trips())
        other.author = "sync"
        other.insert(trip("b"))
        try other.save()
        try await wait { all.eventCounter == 3 && sync.eventCounter == 1 }
        #expect(isTold())
        #expect(cars.eventCounter == 1)
    }

    @Test func `an observer of the history begins at its tokens`() throws {
        let container = try store.trips()
        let context = ModelContext(container)
        context.insert(trip("a"))
        try context.save()
        let first = try #require(context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first)
        let tokens = [first.storeIdentifier: first.token]
        #expect(try HistoryObserver(historyTokens: tokens, modelContainer: container).eventCounter == 0)
        context.insert(trip("b"))
        try context.save()
        #expect(try HistoryObserver(historyTokens: tokens, modelContainer: container).eventCounter == 1)
        #expect(try HistoryObserver(modelContainer: container).eventCounter == 0)
        try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(throws: SwiftDataError.historyTokenExpired) { try HistoryObserver(historyTokens: tokens, modelContainer: container) }
    }
}
