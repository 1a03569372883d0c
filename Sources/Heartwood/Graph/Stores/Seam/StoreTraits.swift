/// The properties of a store that decide how contexts read its rows.
package struct StoreTraits: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The store says whether it has newer commits, so a context keeps its view until then. Without it each fetch asks for the current state.
    package static let tellsOfCommits = StoreTraits(rawValue: 1)
    /// A row can be read again at no cost, to compare its version.
    package static let rereadsRows = StoreTraits(rawValue: 2)
    /// A view stays readable as it was, so that a query generation can name it.
    package static let keepsStates = StoreTraits(rawValue: 4)
    /// Rows lie in files that a compaction may replace while contexts point into them.
    package static let replacesFiles = StoreTraits(rawValue: 8)
    /// The store reports how it finds rows.
    package static let explainsPlans = StoreTraits(rawValue: 16)

    /// Of record logs, in files or in memory.
    package static let ofLog: StoreTraits = [.tellsOfCommits, .rereadsRows, .keepsStates, .replacesFiles, .explainsPlans]
}
