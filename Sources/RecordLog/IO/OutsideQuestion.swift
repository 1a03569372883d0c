/// The question for a store that is no record log, whether it has decided for a commit.
package struct OutsideQuestion: Sendable {
    package let group: StoredUUID
    package let coordinator: StoredUUID
    package let place: String
    /// Whether the answer has to hold for ever: where nothing is decided yet, nothing may be decided any more.
    package let isFinal: Bool

    package init(group: StoredUUID, coordinator: StoredUUID, place: String, isFinal: Bool) {
        (self.group, self.coordinator, self.place, self.isFinal) = (group, coordinator, place, isFinal)
    }
}
