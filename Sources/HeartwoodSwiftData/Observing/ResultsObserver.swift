import Foundation
import Heartwood

/// Results that follow their context. Its properties are observed as those of models are.
///
/// It takes in what other contexts save: those of the container, and other processes. With an actor, the changes come by themselves; without one,
/// with the next use of the observer or of its context. Changes of a context other than the main one show before they are saved with the next use of
/// the observer, and with `processPendingChanges()`.
///
/// Use it where its context is used.
/// Source: https://developer.apple.com/documentation/swiftdata/resultsobserver
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable, CustomDebugStringConvertible {
    public let modelContext: ModelContext
    private let registrar = ObservationRegistrar()
    private var followed: FollowedResults?
    private var shown: FetchResultsCollection<Element>?
    private var descriptor: FetchDescriptor<Element>
    private var sectionKeyPath: PartialKeyPath<Element>?
    private var following: SavesOfOthers?
    /// Why the observer could not fetch for a property that was set; nil if it could. The results are the former ones then.
    public private(set) var fetchError: (any Error)?

    init(_ descriptor: FetchDescriptor<Element>, _ sectionBy: PartialKeyPath<Element>?, _ context: ModelContext, _ actor: (any Actor)?) throws {
        modelContext = context
        self.descriptor = descriptor
        sectionKeyPath = sectionBy
        try fetch()
        following = context.followSavesOfOthers(on: actor)
    }

    // MARK: Results

    public var results: FetchResultsCollection<Element> {
        bringUpToDate()
        registrar.access(self, keyPath: \.results)
        return current
    }

    /// nil for an observer without sections.
    public var sections: SectionedResults<Element, SectionTitle>? {
        bringUpToDate()
        registrar.access(self, keyPath: \.sections)
        guard hasSections else { return nil }
        let results = current
        return SectionedResults(
            results.results?.sections.compactMap { section in
                (section.name as? SectionTitle).map { ResultsSection($0, results, section.range) }
            } ?? [])
    }

    private var hasSections: Bool { sectionKeyPath != nil && SectionTitle.self != Never.self }

    private func bringUpToDate() {
        modelContext.takeInSaves()
        modelContext.processPendingChanges()
    }

    private var current: FetchResultsCollection<Element> {
        if let shown { return shown }
        let made = followed?.results.map { FetchResultsCollection($0, modelContext) } ?? FetchResultsCollection<Element>([])
        shown = made
        return made
    }

    /// The model at an index path of a section and an item; nil if there is none, and where there are no sections.
    public func element(at indexPath: IndexPath) -> Element? {
        let results = results
        guard hasSections, indexPath.count == 2, let sections = results.results?.sections, sections.indices.contains(indexPath[0]),
            sections[indexPath[0]].range.indices.contains(sections[indexPath[0]].range.lowerBound + indexPath[1])
        else { return nil }
        return results[sections[indexPath[0]].range.lowerBound + indexPath[1]]
    }

    /// The index path of a model's section and its place there; nil where the results lack the model, and where there are no sections.
    /// - Complexity: O(results) for the first two calls after the results have changed, then O(sections).
    public func indexPath(for element: Element) -> IndexPath? {
        guard let results = results.results, hasSections, let object = element.rootStorage?.object, let index = results.index(of: object),
            let section = results.sections.firstIndex(where: { $0.range.contains(index) })
        else { return nil }
        return IndexPath(indexes: [section, index - results.sections[section].range.lowerBound])
    }

    // MARK: Terms

    public var fetchDescriptor: FetchDescriptor<Element> {
        get {
            registrar.access(self, keyPath: \.fetchDescriptor)
            return descriptor
        }
        set { change(\.fetchDescriptor) { descriptor = newValue } }
    }

    public var filterBy: Predicate<Element>? {
        get { fetchDescriptor.predicate }
        set { change(\.fetchDescriptor) { descriptor.predicate = newValue } }
    }

    public var sortBy: [SortDescriptor<Element>] {
        get { fetchDescriptor.sortBy }
        set { change(\.fetchDescriptor) { descriptor.sortBy = newValue } }
    }

    public var sectionBy: PartialKeyPath<Element>? {
        get {
            registrar.access(self, keyPath: \.sectionBy)
            return sectionKeyPath
        }
        set { change(\.sectionBy) { sectionKeyPath = newValue } }
    }

    private func change<Value>(_ keyPath: KeyPath<ResultsObserver, Value>, _ body: () -> Void) {
        registrar.withMutation(of: self, keyPath: keyPath, body)
        noteChange {
            do {
                try fetch()
                fetchError = nil
            } catch {
                fetchError = error
            }
        }
    }

    // MARK: Following

    /// The results are fetched and followed by a fetched results controller.
    private func fetch() throws {
        modelContext.takeInSaves()
        let (request, filter) = try modelContext.request(descriptor)
        guard filter == nil else {
            throw SwiftDataError.unsupportedPredicate.because(
                "A part of the predicate is computed by the program, and results cannot follow it. Keep its value in a property.")
        }
        request.fetchBatchSize = Self.batchSize
        let section = try sectionKeyPath.map(sectionKey)
        if let section, request.sortDescriptors?.first?.key != section {
            request.sortDescriptors = [NSSortDescriptor(key: section, ascending: true)] + (request.sortDescriptors ?? [])
        }
        followed = try FollowedResults(request, modelContext.managed, sectionNameKeyPath: section) { [weak self] in self?.noteChange() }
        shown = nil
    }

    private static var batchSize: Int { 256 }

    private func sectionKey(_ keyPath: PartialKeyPath<Element>) throws -> String {
        do {
            let type = ModelType.of(Element.self)
            return try PropertyPath.of(keyPath, root: type).managedKeys(in: modelContext.container.mapped, root: type).joined(separator: ".")
        } catch {
            throw SwiftDataError.unsupportedKeyPath.because("\(error)")
        }
    }

    private func noteChange(_ body: () -> Void = {}) {
        registrar.withMutation(of: self, keyPath: \.results) {
            registrar.withMutation(of: self, keyPath: \.sections) {
                shown = nil
                body()
            }
        }
    }

    public var debugDescription: String { "ResultsObserver<\(Element.self)> of \(current.count) results" }
}
