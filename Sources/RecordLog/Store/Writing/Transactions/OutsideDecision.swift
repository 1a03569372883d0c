/// The decision about a commit over several stores, made by a store that is no record log. Spec: FORMAT.md, "Saves over several stores".
package struct OutsideDecision {
    package enum Outcome {
        /// The decision is durable, and any process can ask for it.
        case committed
        /// Nothing is decided, and nothing ever will be.
        case refused(any Error)
        /// Only the next opening of a store finds out.
        case unknown(any Error)
    }

    private let group: StoredUUID
    private let coordinator: StoredUUID
    private let place: String
    /// Called once, when every record log is prepared.
    let decide: () -> Outcome

    /// - Parameters:
    ///   - group: identifies the commit; random.
    ///   - coordinator: the identity of the store that decides.
    ///   - place: where that store is, without secrets.
    package init(group: StoredUUID, coordinator: StoredUUID, place: String, decide: @escaping () -> Outcome) {
        (self.group, self.coordinator, self.place, self.decide) = (group, coordinator, place, decide)
    }

    /// - Parameter path: of the store that is prepared, for the error.
    func record(_ path: String) throws(StoreError) -> PreparedRecord {
        guard place.utf8.count <= PreparedRecord.pathLengthMax else {
            throw StoreError(
                .invalidArgument, path: path, "the URL of the store that decides has \(place.utf8.count) bytes, more than a log keeps",
                remedy: "Use a URL of at most \(PreparedRecord.pathLengthMax) bytes.")
        }
        return PreparedRecord(group: group, coordinator: coordinator, decision: 0, relativePath: "", path: place)
    }

    /// The error of a handle whose newest commit nobody knows.
    func unknown(_ path: String) -> StoreError {
        StoreError(
            .undecided, path: path, "nobody could be asked whether the newest commit, a part of a save over several stores, is decided",
            remedy: "Close the store and open it again.").asUncertain
    }
}

extension PreparedRecord {
    /// Whether the store that decides is no record log.
    var isOutside: Bool { relativePath.isEmpty }
}
