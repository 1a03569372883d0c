// The structs of libpq-fe.h that the client reads. Swift lays a struct out as C does where its fields have C's types.

/// `PQconninfoOption`.
struct LibPQOption {
    let keyword: UnsafeMutablePointer<CChar>?
    let environmentVariable: UnsafeMutablePointer<CChar>?
    let compiled: UnsafeMutablePointer<CChar>?
    let value: UnsafeMutablePointer<CChar>?
    let label: UnsafeMutablePointer<CChar>?
    /// "*" for a secret.
    let display: UnsafeMutablePointer<CChar>?
    let displaySize: CInt
}

/// `PGnotify`.
struct LibPQNotification {
    let channel: UnsafeMutablePointer<CChar>?
    let process: CInt
    let payload: UnsafeMutablePointer<CChar>?
    let next: UnsafeMutableRawPointer?
}

/// `ExecStatusType`.
enum LibPQStatus {
    static let emptyQuery: CInt = 0
    static let command: CInt = 1
    static let rows: CInt = 2
    static let copyOut: CInt = 3
    static let copyIn: CInt = 4
    static let copyBoth: CInt = 8
    static let singleRow: CInt = 9
    static let copies = [copyOut, copyIn, copyBoth]
    static let sync: CInt = 10
    static let aborted: CInt = 11
}

/// The names of an error's fields: `PG_DIAG_…` of postgres_ext.h.
enum LibPQField {
    static let severity = CInt(UInt8(ascii: "V"))
    static let state = CInt(UInt8(ascii: "C"))
    static let message = CInt(UInt8(ascii: "M"))
    static let detail = CInt(UInt8(ascii: "D"))
    static let hint = CInt(UInt8(ascii: "H"))
    static let position = CInt(UInt8(ascii: "P"))
    static let schema = CInt(UInt8(ascii: "s"))
    static let table = CInt(UInt8(ascii: "t"))
    static let column = CInt(UInt8(ascii: "c"))
    static let routine = CInt(UInt8(ascii: "R"))
    static let constraint = CInt(UInt8(ascii: "n"))
}
