import RecordLog

/// The owners of the memory that contains the rows of a context's objects.
package struct RowMemory {
    /// Files of record logs, in the order in which the context first read them.
    private(set) var files: [LogFile] = []
    /// Rows of stores that answer requests.
    private(set) var answers: [IncrementalRows] = []
    /// Rows copied out of files.
    private(set) var copies: [KeptRows] = []

    /// Whether a compaction has replaced one of the files.
    var hasReplacedFile: Bool {
        // Each fetch asks. It counts no reference to the files, which all contexts share.
        files.indices.contains { index in Unmanaged.passUnretained(files[index])._withUnsafeGuaranteedRef { $0.isReplaced } }
    }

    mutating func add(_ file: LogFile) {
        if !files.contains(where: { $0 === file }) { files.append(file) }
    }

    package mutating func add(_ rows: IncrementalRows) {
        if !answers.contains(where: { $0 === rows }) { answers.append(rows) }
    }

    mutating func add(_ rows: KeptRows) {
        if !copies.contains(where: { $0 === rows }) { copies.append(rows) }
    }

    mutating func add(_ other: RowMemory) {
        addFiles(of: other)
        for rows in other.answers { add(rows) }
    }

    /// Adds the files and the rows copied out of files.
    mutating func addFiles(of other: RowMemory) {
        for file in other.files { add(file) }
        for rows in other.copies { add(rows) }
    }

    /// Holds these files and copies, and releases all others.
    mutating func replace(files: [LogFile], copies: KeptRows) {
        self.files = []
        for file in files { add(file) }
        self.copies = copies.isEmpty ? [] : [copies]
    }
}
