import Foundation
import Synchronization

/// The sections that `performFetch()` has found under a cache's name. The next fetch of the same request reuses them.
///
/// Sections are kept in this process, with everything that they depend on: the store and its newest commit, entity, predicate, order, window and
/// section key path. If one of these differs, the sections are found again and replace the old ones, so the cache of stored names is never wrong.
/// It saves time if rows do not contain the sections' names, since each object is read for its name then.
struct SectionCache {
    struct Sections {
        let sections: [ResultsList.Section]
        let count: Int
    }

    private static let kept = Mutex<[String: (origin: [String], sections: Sections)]>([:])

    private let name: String
    private let origin: [String]

    /// - Returns: nil if the store's view has no commit number.
    init?(name: String, _ query: ResultsQuery, _ store: NSPersistentStore, _ view: any StoreView) {
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

    /// Deletes the sections kept under a name, or all of them.
    static func delete(_ name: String?) {
        kept.withLock { kept in
            if let name { kept[name] = nil } else { kept = [:] }
        }
    }
}
