import Foundation
import RecordLog

struct VerifyCommand: Command {
    static let name = "verify"
    static let summary = "check every checksum, the chain of commits and every index entry"
    static let help = """
        USAGE: heartwood verify STORE

        Reads the whole store and writes nothing. Exit code: 0 sound; 1 damaged, with where and whether it is a torn tail (a
        crash's unfinished end, which the next opening for writing cuts off) or corruption; 2 not a store.
        """
    static let options: Set<String> = []
    static let flags: Set<String> = []

    private let store: String

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
    }

    func run() throws -> Int32 {
        let report = try StoreVerification.verify(path: store)
        for problem in report.problems {
            Output.line("corrupt: \(problem.message)\(problem.offset.map { " (byte \($0))" } ?? "")")
        }
        switch report.tail {
        case .clean: break
        case .torn: Output.line("torn: bytes of an unfinished write follow the last commit; opening the store for writing removes them")
        case .corrupt(let offset, let evidence): Output.line("corrupt: \(evidence) (byte \(offset))")
        }
        guard report.isSound else { return 1 }
        Output.line(
            "sound: \(Output.number(report.frames)) frames, \(Output.number(Int(report.rows))) rows, "
                + "\(Output.number(Int(report.indexEntries))) index entries"
                + (report.values == 0 ? "" : ", \(Output.number(Int(report.values))) large values"))
        return 0
    }
}
