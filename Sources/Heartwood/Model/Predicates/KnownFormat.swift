/// A reference to a parsed format that predicates are filled from.
///
/// Predicates of all threads are filled from the same few formats. Those that `FormatTable` keeps for the life of the process are not counted, since
/// the threads would fight for the cache line with the count.
struct KnownFormat {
    private let template: Unmanaged<FormatTemplate>
    /// nil for a template that lives as long as the process.
    private let owner: FormatTemplate?

    init(_ template: FormatTemplate) {
        (self.template, owner) = (.passUnretained(template), template)
    }

    init(keptForever template: FormatTemplate) {
        (self.template, owner) = (.passUnretained(template), nil)
    }

    @inline(__always)
    func read<Result>(_ body: (FormatTemplate) throws -> Result) rethrows -> Result { try template._withUnsafeGuaranteedRef(body) }
}
