/// The terms that rows must have in text indexes for a test to hold.
struct TextCondition {
    struct Alternative {
        let property: Int
        let requirement: TermRequirement
    }

    /// Of each list at least one must hold.
    let groups: [[Alternative]]
    /// Whether the test holds for every row that has the terms. Long texts are an exception: they have no terms and must be tested.
    let isExact: Bool

    init(groups: [[Alternative]], isExact: Bool) {
        self.groups = groups
        self.isExact = isExact
    }

    init(property: Int, _ requirements: TermRequirements) {
        self.init(groups: requirements.list.map { [Alternative(property: property, requirement: $0)] }, isExact: false)
    }
}
