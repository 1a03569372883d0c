import Foundation
import RecordLog

struct CompactCommand: Command {
    static let name = "compact"
    static let summary = "write the live data to a new file in the store's place"
    static let help = """
        USAGE: heartwood compact STORE

        Copies what is live, with fresh indexes, and puts the new file in the old one's place at the end. A crash at any point
        leaves the old file or the new one, whole. Damaged indexes are made anew from the log.
        """
    static let options: Set<String> = []
    static let flags: Set<String> = []

    private let store: String

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
    }

    func run() throws -> Int32 {
        var options = StoreOptions()
        options.createIfMissing = false
        options.rebuildsIndexes = true
        let log = try LogStore.open(path: store, options: options)
        let progress = ProgressBar("compacting")
        let report = try log.compact { state in
            progress.update(state.rowsDone, of: state.rowsTotal)
            return true
        }
        progress.finish()
        try log.close()
        Output.line(
            "\(Output.number(Int(report.rows))) rows: \(Output.bytes(report.bytesBefore)) before, \(Output.bytes(report.bytesAfter)) after")
        return 0
    }
}
