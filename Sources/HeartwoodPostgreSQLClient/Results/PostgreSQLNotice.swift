/// A message of the server that is no error.
package struct PostgreSQLNotice: Sendable {
    /// As WARNING or NOTICE.
    package let severity: String
    package let state: String
    package let message: String
    package let detail: String?
}
