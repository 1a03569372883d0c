import RecordLog

/// What keeps the memory valid in which the rows of a context's objects lie.
struct RowMemory {
    /// Files of record logs, in the order in which the context came to them.
    private(set) var files: [LogFile] = []
    /// The rows of stores that are asked.
    private(set) var answers: [IncrementalRows] = []
    /// Rows that were copied out of files.
    private(set) var copies: [KeptRows] = []

    /// Whether a file is among these in place of which a store has another one.
    var hasReplacedFile: Bool { files.contains { $0.isReplaced } }

    mutating func add(_ file: LogFile) {
        if !files.contains(where: { $0 === file }) { files.append(file) }
    }

    mutating func add(_ rows: IncrementalRows) {
        if !answers.contains(where: { $0 === rows }) { answers.append(rows) }
    }

    mutating func add(_ rows: KeptRows) {
        if !copies.contains(where: { $0 === rows }) { copies.append(rows) }
    }

    mutating func add(_ other: RowMemory) {
        for file in other.files { add(file) }
        for rows in other.answers { add(rows) }
        for rows in other.copies { add(rows) }
    }

    /// Keeps these files and copies in place of all others.
    mutating func replace(files: [LogFile], copies: KeptRows) {
        self.files = []
        for file in files { add(file) }
        self.copies = copies.isEmpty ? [] : [copies]
    }
}
