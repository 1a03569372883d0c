import Foundation
import RecordLog

struct VerifyCommand: Command {
    static let name = "verify"
    static let summary = "check every checksum, the chain of commits and every index entry"
    static let help = """
        USAGE: heartwood verify STORE [--no-mmap]

        Reads the whole store and writes nothing. Exit code: 0 sound; 1 damaged, with where and whether it is a torn tail (a
        crash's unfinished end, which the next opening for writing cuts off), a part of a save over several stores that waits
        for the store that decides about it, or corruption; 2 not a store.

          --no-mmap      read the file in place of mapping it, which takes memory for all of it: for network and removable media,
                         and disks with sectors that cannot be read
        """
    static let options: Set<String> = []
    static let flags: Set<String> = ["no-mmap"]

    private let store: String
    private let usesMemoryMapping: Bool

    init(_ arguments: Arguments) throws {
        store = try arguments.exactly(["STORE"])[0]
        usesMemoryMapping = !arguments.has("no-mmap")
    }

    func run() throws -> Int32 {
        let report = try StoreVerification.verify(path: store, usesMemoryMapping: usesMemoryMapping)
        for problem in report.problems {
            Output.line("corrupt: \(problem.message)\(problem.offset.map { " (byte \($0))" } ?? "")")
        }
        switch report.tail {
        case .clean: break
        case .inProgress: Output.line("a writer is at work: what follows the newest commit was not looked at")
        case .torn: Output.line("torn: bytes of an unfinished write follow the last commit; opening the store for writing removes them")
        case .corrupt(let offset, let evidence): Output.line("corrupt: \(evidence) (byte \(offset))")
        case .waiting(let offset, let path, let state): Output.line("waiting: \(InspectionReport.waiting(path, state)) (byte \(offset))")
        }
        guard report.isSound else { return 1 }
        Output.line(
            "sound: \(Output.number(report.frames)) frames, \(Output.number(Int(report.rows))) rows, "
                + "\(Output.number(Int(report.indexEntries))) index entries"
                + (report.values == 0 ? "" : ", \(Output.number(Int(report.values))) large values"))
        return 0
    }
}
