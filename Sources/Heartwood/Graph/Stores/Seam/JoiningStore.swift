import Foundation
import RecordLog

/// A store that is no record log, and saves together with other stores: all of them or none. One of them decides, the others prepare.
///
/// A program that opens a prepared store, a record log or one of these, asks the store that decides.
package protocol JoiningStore: NSPersistentStore {
    /// The place of the store among those of one save, by which all savers take their locks in the same order. The first decides.
    var joiningOrder: String { get }

    /// - Throws: an error with the reason and the remedy, if the store can only decide.
    func checkCanPrepare() throws

    /// Saves a batch up to the commit, and then runs `body`, which decides. It runs all of it again where another save was in the way.
    func decide(_ batch: SaveBatch, _ body: (JointSave) throws -> Void) throws

    /// Saves a batch up to the commit, so that the commit outlives every crash; then runs `body`, which decides, and does what was decided.
    func prepare(_ batch: SaveBatch, _ joint: JointSave, _ body: () throws -> Void) throws

    /// Whether a store of this class is at a URL.
    static func isPlace(_ url: URL) -> Bool

    /// Whether the store at a URL has decided for a save.
    /// - Throws: where it cannot be asked.
    static func hasDecided(_ question: OutsideQuestion, at url: URL) throws -> Bool
}

/// One save over several stores, about which one of them decides that is no record log.
package final class JointSave {
    /// Identifies the save; random.
    package let group: UUID
    /// The identity of the store that decides, and where it is, without secrets.
    package let coordinator: UUID
    package let place: String
    private let commit: () -> OutsideDecision.Outcome
    private(set) package var outcome: OutsideDecision.Outcome?

    package init(group: UUID, coordinator: UUID, place: String, commit: @escaping () -> OutsideDecision.Outcome) {
        (self.group, self.coordinator, self.place, self.commit) = (group, coordinator, place, commit)
    }

    /// The decision as record logs take it.
    var decision: OutsideDecision {
        OutsideDecision(group: StoredUUID(bytes: group.uuid), coordinator: StoredUUID(bytes: coordinator.uuid), place: place) { [self] in
            let made = outcome ?? commit()
            outcome = made
            return made
        }
    }

    /// Whether nothing is decided, and nothing ever will be.
    package var isRefused: Bool {
        switch outcome {
        case nil, .refused?: true
        case .committed?, .unknown?: false
        }
    }

    package var isCommitted: Bool { if case .committed? = outcome { true } else { false } }
}

extension OutsideQuestion {
    /// Asks the store that decides, by the class that knows its place.
    @Sendable static func answer(_ question: OutsideQuestion) throws -> Bool {
        guard let url = URL(string: question.place),
            let known = StoreClasses.all.values.lazy.compactMap({ $0 as? any JoiningStore.Type }).first(where: { $0.isPlace(url) })
        else { throw CoreDataError.make(NSPersistentStoreInvalidTypeError, "this program has no store class for \(question.place)") }
        return try known.hasDecided(question, at: url)
    }
}
