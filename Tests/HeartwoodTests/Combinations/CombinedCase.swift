/// One object: what its columns have before, and what a change sets. A nil change leaves its column alone; one to the same state sets the
/// same value again.
struct CombinedCase {
    let before: [ValueState]
    let changes: [ValueState?]

    var after: [ValueState] { before.changed(by: changes) }
}

extension [ValueState] {
    func changed(by changes: [ValueState?]) -> [ValueState] { zip(self, changes).map { $1 ?? $0 } }
}
