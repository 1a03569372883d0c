extension UInt64 {
    /// The sum, or the greatest number where it is larger. For sums of lengths that a destination states.
    func addingOrMax(_ other: UInt64) -> UInt64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
