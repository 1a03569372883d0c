/// The versions of rows as the stack has them: 1 to 2^32 - 1, with the bits of the server's integer. 0 is that of no row.
enum RowVersion {
    /// The version in a row. Others may have written 0.
    static func of(_ stored: Int32) -> UInt32 { max(1, UInt32(bitPattern: stored)) }

    /// The version that the next change gives.
    static func after(_ version: UInt32) -> UInt32 { max(1, version &+ 1) }
}
