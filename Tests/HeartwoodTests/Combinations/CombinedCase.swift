/// One object: the states of its columns, and those after a change. A nil change leaves its column alone; a change to the same state sets the same
/// value again.
struct CombinedCase {
    let before: [ValueState]
    let changes: [ValueState?]

    var after: [ValueState] { before.changed(by: changes) }
}

extension [ValueState] {
    func changed(by changes: [ValueState?]) -> [ValueState] { zip(self, changes).map { $1 ?? $0 } }
}
