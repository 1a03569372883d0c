/// The rows of a statement, in the server's binary form, in memory that libpq holds. Any thread may read them.
///
/// Readers take the numbers of a row and of a column from 0. They allocate nothing but the value itself.
package final class PostgreSQLResult: @unchecked Sendable {
    // Unchecked: libpq's answer does not change any more.

    let library: LibPQ
    let answer: LibPQ.Answer
    /// The number of rows.
    package let count: Int
    let types: [PostgreSQLType]
    /// libpq gives notices about an answer to the receiver of its connection, also after that has closed.
    private let notices: NoticeBox

    /// Takes the answer over.
    init(_ answer: LibPQ.Answer, _ library: LibPQ, _ notices: NoticeBox) {
        self.library = library
        self.notices = notices
        self.answer = answer
        count = Int(library.rowCount(answer))
        types = (0..<library.columnCount(answer)).map { PostgreSQLType(library.columnType(answer, $0)) }
    }

    deinit { library.clear(answer) }

    package var columnCount: Int { types.count }

    /// - Returns: nil for a column that is not there.
    package func type(of column: Int) -> PostgreSQLType? { types.indices.contains(column) ? types[column] : nil }

    /// - Returns: nil for a column that is not there.
    package func name(of column: Int) -> String? {
        guard types.indices.contains(column) else { return nil }
        return library.columnName(answer, CInt(column)).map { String(cString: $0) }
    }

    /// The number of rows that the statement added, changed, deleted or returned. 0 for other statements.
    package var affectedRows: Int { library.affectedRows(answer).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The server's word for what it did, as "INSERT 0 1" or "ROLLBACK".
    package var commandTag: String { library.commandTag(answer).map { String(cString: $0) } ?? "" }
}
