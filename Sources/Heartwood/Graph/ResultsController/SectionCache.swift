import Foundation
import Synchronization

/// The sections that `performFetch()` has found under a cache's name, for the next one of the same request.
///
/// Sections are kept in this process, with all that they follow from: the store and its newest commit, entity, predicate, order, window and
/// section key path. Where one of them is another the sections are found anew and take the old ones' place; so a cache is never wrong, and is
/// worth having where sections are named after what rows do not have, since each object is asked for that.
struct SectionCache {
    struct Sections {
        let sections: [ResultsList.Section]
        let count: Int
    }

    private static let kept = Mutex<[String: (origin: [String], sections: Sections)]>([:])

    private let name: String
    private let origin: [String]

    /// - Returns: nil where the store does not say which commit it is read at.
    init?(name: String, _ query: ResultsQuery, _ store: NSPersistentStore, _ view: StoreView) {
        guard let commit = view.commit, let identifier = store.identifier else { return nil }
        self.name = name
        let fetch = query.fetch
        origin = [
            identifier, String(commit), fetch.entity.name ?? "", String(fetch.includesSubentities),
            fetch.predicate.map(PredicatePrinter.format) ?? "", "\(fetch.limit) \(fetch.offset)", query.section?.path.joined(separator: ".") ?? "",
        ] + fetch.sort.map { "\($0.path.joined(separator: ".")) \($0.isAscending) \($0.textOrder.rawValue)" }
    }

    var sections: Sections? {
        Self.kept.withLock { kept in kept[name].flatMap { $0.origin == origin ? $0.sections : nil } }
    }

    func keep(_ list: ResultsList) {
        let sections = Sections(sections: list.sections, count: list.count)
        Self.kept.withLock { $0[name] = (origin, sections) }
    }

    /// Forgets what is kept under a name, or everything.
    static func delete(_ name: String?) {
        kept.withLock { kept in
            if let name { kept[name] = nil } else { kept = [:] }
        }
    }
}
