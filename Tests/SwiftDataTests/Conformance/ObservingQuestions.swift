import Foundation
import SwiftData
import Synchronization
import Testing

/// What tells a program of changes: models, results and the history.
@Suite struct ObservingQuestions {
    /// Whether a change told the observer of what the first block reads.
    private func isTold(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Bool {
        let told = Atomic<Bool>(false)
        withObservationTracking(read) { told.store(true, ordering: .relaxed) }
        try change()
        return told.load(ordering: .relaxed)
    }

    /// Waits at most ten seconds.
    private func wait(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async throws {
        // An observer of saves works on a queue of its own, and nobody tells when it has finished.
        for _ in 0..<1000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(condition())
    }

    // MARK: Models

    @Test(.wwdc(2025, 291, "withObservationTracking on dates"), arguments: StoreKind.allCases)
    func `A change of a property that was read is told`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ship = fleet.ships[0]
        #expect(isTold({ _ = (ship.launched, ship.retired) }, { ship.retired = day(50) }))
        #expect(isTold({ _ = ship.berth.quay }, { ship.berth.quay = "east" }))
    }

    @Test(.wwdc(2025, 291, "withObservationTracking on dates"), arguments: StoreKind.allCases)
    func `A change of another property or model is not told`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ship = fleet.ships[0]
        #expect(!isTold({ _ = ship.launched }, { ship.name = "other" }))
        #expect(!isTold({ _ = ship.launched }, { fleet.ships[1].launched = day(9) }))
    }

    @Test(.reference("persistentmodel"), arguments: StoreKind.allCases)
    func `A change of a relationship is told at both ends`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ship = fleet.ships[3], harbour = fleet.harbours[0]
        #expect(isTold({ _ = ship.home }, { ship.home = harbour }))
        #expect(isTold({ _ = harbour.ships.count }, { ship.home = nil }))
        #expect(isTold({ _ = ship.home }, { harbour.ships.append(ship) }))
    }

    @Test(.wwdc(2025, 291, "other contexts of the container"), arguments: StoreKind.allCases)
    func `A change by another context is told when this one fetches`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), ship = fleet.ships[0], other = ModelContext(fleet.container)
        let copy = try #require(other.model(for: ship.persistentModelID) as? Freighter)
        copy.name = "other"
        try other.save()
        #expect(try isTold({ _ = ship.name }, { _ = try fleet.context.fetch(FetchDescriptor<Freighter>()) }))
        #expect(ship.name == "other")
    }

    // MARK: Results

    @Test(.reference("resultsobserver"), arguments: StoreKind.allCases)
    func `Results follow the changes of their context`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let observer = try ResultsObserver<Freighter, Never>(
            filterBy: #Predicate { $0.tonnage > 150 }, sortBy: [SortDescriptor(\.name)], modelContext: fleet.context)
        #expect(observer.results.map(\.name) == ["Bella", "Castor", "Dover"])
        fleet.ships[0].tonnage = 500
        fleet.context.delete(fleet.ships[3])
        fleet.context.insert(Freighter("Elin", tonnage: 600, launched: day(5)))
        #expect(observer.results.map(\.name) == ["Aurora", "Bella", "Castor", "Elin"])
        #expect(observer.modelContext === fleet.context)
    }

    @Test(.reference("resultsobserver"), arguments: StoreKind.allCases)
    func `A change of the results is told`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let observer = try ResultsObserver<Freighter, Never>(modelContext: fleet.context)
        #expect(isTold({ _ = observer.results.count }, {
            fleet.context.insert(Freighter("Elin", tonnage: 600, launched: day(5)))
            fleet.context.processPendingChanges()
        }))
    }

    @Test(.reference("resultsobserver"), arguments: StoreKind.allCases)
    func `Results follow the saves of the container's other contexts`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let observer = try ResultsObserver<Freighter, Never>(fetchDescriptor: FetchDescriptor(), modelContainer: fleet.container)
        #expect(observer.results.count == 4)
        #expect(observer.modelContext != fleet.context)
        fleet.context.delete(fleet.ships[0])
        #expect(observer.results.count == 4)
        try fleet.context.save()
        #expect(observer.results.count == 3)
    }

    @MainActor @Test(.wwdc(2026, 274, "results outside of views"), arguments: StoreKind.allCases)
    func `Saves of others come to an actor by themselves`(kind: StoreKind) async throws {
        let fleet = try Fleet(kind), told = Atomic<Bool>(false)
        let observer = try ResultsObserver<Freighter, Never>(modelContainer: fleet.container)
        withObservationTracking { _ = observer.results } onChange: { told.store(true, ordering: .relaxed) }
        fleet.context.insert(Freighter("Elin", tonnage: 600, launched: day(5)))
        try fleet.context.save()
        try await wait { told.load(ordering: .relaxed) }
        #expect(observer.results.count == 5)
    }

    @Test(.reference("resultsobserver/filterby"), arguments: StoreKind.allCases)
    func `Another filter and order fetch again`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), observer = try ResultsObserver<Freighter, Never>(sortBy: [SortDescriptor(\.name)], modelContext: fleet.context)
        #expect(observer.filterBy == nil && observer.sortBy.count == 1)
        observer.filterBy = #Predicate { $0.tonnage < 250 }
        #expect(observer.results.map(\.name) == ["Aurora", "Bella"])
        observer.sortBy = [SortDescriptor(\.name, order: .reverse)]
        #expect(observer.results.map(\.name) == ["Bella", "Aurora"])
        #expect(observer.fetchDescriptor.predicate != nil)
    }

    @Test(.reference("resultsobserver/sections"), arguments: StoreKind.allCases)
    func `Sections are in the order of their titles, whatever sorts the models in them`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let observer = try ResultsObserver<Freighter, String>(
            sortBy: [SortDescriptor(\.tonnage, order: .reverse)], sectionBy: \.berth.quay, modelContext: fleet.context)
        let sections = try #require(observer.sections)
        #expect(sections.sectionTitles == ["north", "south"])
        #expect(sections.map { $0.map(\.name) } == [["Castor", "Aurora"], ["Dover", "Bella"]])
        #expect(observer.results.map(\.name) == ["Castor", "Aurora", "Dover", "Bella"])
        observer.sortBy = [SortDescriptor(\.name)]
        #expect(observer.sections?.map { $0.map(\.name) } == [["Aurora", "Castor"], ["Bella", "Dover"]])
    }

    @Test(.reference("sectionedresults"), arguments: StoreKind.allCases)
    func `A section is found by its title`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let sections = try #require(ResultsObserver<Freighter, String>(sectionBy: \.berth.quay, modelContext: fleet.context).sections)
        #expect(sections[sectionTitle: "south"]?.count == 2 && sections[sectionTitle: "east"] == nil)
        #expect(sections.contains(sectionTitle: "north") && !sections.contains(sectionTitle: "east"))
        #expect(sections.index(ofSectionTitled: "south") == 1 && sections.index(ofSectionTitled: "east") == nil)
        #expect(sections[0].id == "north" && sections[0].title == "north")
    }

    @Test(.reference("resultsobserver/sections"), arguments: StoreKind.allCases)
    func `Sections follow the changes`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), observer = try ResultsObserver<Freighter, String>(sectionBy: \.berth.quay, modelContext: fleet.context)
        fleet.ships[0].berth.quay = "east"
        #expect(observer.sections?.sectionTitles == ["east", "north", "south"])
        #expect(observer.sections?.map(\.count) == [1, 1, 2])
    }

    @Test(.reference("resultsobserver/element(at:)"), arguments: StoreKind.allCases)
    func `Models have index paths of their section and their place in it`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let observer = try ResultsObserver<Freighter, String>(
            sortBy: [SortDescriptor(\.name)], sectionBy: \.berth.quay, modelContext: fleet.context)
        #expect(observer.element(at: IndexPath(indexes: [1, 0]))?.name == "Bella")
        #expect(observer.indexPath(for: fleet.ships[3]) == IndexPath(indexes: [1, 1]))
        #expect(observer.element(at: IndexPath(indexes: [2, 0])) == nil && observer.element(at: IndexPath(indexes: [0, 2])) == nil)
    }

    @Test(.reference("resultsobserver/indexpath(for:)"), arguments: StoreKind.allCases)
    func `Without sections there are no index paths`(kind: StoreKind) throws {
        let fleet = try Fleet(kind), observer = try ResultsObserver<Freighter, Never>(modelContext: fleet.context)
        #expect(observer.sections == nil && observer.sectionBy == nil)
        #expect(observer.indexPath(for: fleet.ships[0]) == nil)
        #expect(observer.element(at: IndexPath(indexes: [0, 0])) == nil)
    }

    // MARK: History

    @Test(.reference("historyobserver/eventcounter"), arguments: StoreKind.allCases)
    func `The counter rises with the saves after the observer was made`(kind: StoreKind) async throws {
        let fleet = try Fleet(kind), observer = try HistoryObserver(modelContainer: fleet.container)
        #expect(observer.eventCounter == 0 && observer.observedModels.isEmpty && observer.authors.isEmpty)
        fleet.ships[0].name = "x"
        try fleet.context.save()
        try await wait { observer.eventCounter == 1 }
    }

    @Test(.wwdc(2026, 274, "filters by author and by model"), arguments: StoreKind.allCases)
    func `Only the transactions of some authors and models count`(kind: StoreKind) async throws {
        let fleet = try Fleet(kind)
        let byApp = try HistoryObserver(authors: ["app"], modelContainer: fleet.container)
        let ofSailors = try HistoryObserver(observedModels: [Sailor.self], modelContainer: fleet.container)
        let all = try HistoryObserver(modelContainer: fleet.container)
        fleet.context.author = "other"
        fleet.ships[0].name = "x"
        try fleet.context.save()
        try await wait { all.eventCounter == 1 }
        fleet.context.author = "app"
        fleet.ships[1].crew[0].age = 51
        try fleet.context.save()
        try await wait { all.eventCounter == 2 && byApp.eventCounter == 1 && ofSailors.eventCounter == 1 }
    }

    @Test(.reference("historyobserver/init(historytokens:observedmodels:authors:modelcontainer:isolation:)"), arguments: StoreKind.allCases)
    func `An observer begins at the tokens that it is given`(kind: StoreKind) throws {
        let fleet = try Fleet(kind)
        let last = try #require(fleet.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last)
        fleet.ships[0].name = "x"
        try fleet.context.save()
        #expect(try HistoryObserver(historyTokens: [last.storeIdentifier: last.token], modelContainer: fleet.container).eventCounter == 1)
        #expect(try HistoryObserver(modelContainer: fleet.container).eventCounter == 0)
    }
}
