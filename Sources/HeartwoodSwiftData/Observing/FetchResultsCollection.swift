import Foundation
import Heartwood

/// What a fetch has found, as of the moment of the fetch. Models are made when the program comes to them.
///
/// Use it where its context is used.
/// Source: https://developer.apple.com/documentation/swiftdata/fetchresultscollection
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    private let total: Int
    private let element: (Int) -> Element
    /// The results behind a collection of models.
    let results: FetchedResults?

    init(count: Int, results: FetchedResults? = nil, element: @escaping (Int) -> Element) {
        total = count
        self.results = results
        self.element = element
    }

    init(_ elements: [Element]) { self.init(count: elements.count) { elements[$0] } }

    public var startIndex: Int { 0 }
    public var endIndex: Int { total }

    /// - Precondition: the position is in the collection.
    /// - Complexity: O(1); the models of the position's batch are read together.
    public subscript(position: Int) -> Element {
        precondition(indices.contains(position), "A collection of \(total) results has none at \(position).")
        return element(position)
    }
}

extension FetchResultsCollection where Element: PersistentModel {
    init(_ results: FetchedResults, _ context: ModelContext) {
        self.init(count: results.count, results: results) { context.element(results.object(at: $0)) }
    }
}

extension ModelContext {
    /// The model of a result. The schema has its class, which the fetch has asked for.
    func element<T: PersistentModel>(_ object: NSManagedObject) -> T {
        (object as? ModelObject).flatMap(model(of:)) as? T ?? PropertyDefaults.neutralModel()
    }
}
