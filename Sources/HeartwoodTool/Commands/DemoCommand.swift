import Foundation
import Heartwood
import RecordLog

struct DemoCommand: Command {
    static let name = "demo"

    private static let people = Parameter.integer("people", from: 100, "the people in it").or(100_000, shown: "100,000")
    private static let path = Parameter.text(
        "store", "PATH", .file,
        "keeps the store at PATH, where it replaces an earlier demo; without it the demo uses the folder for temporary files")

    static let declaration = CommandDeclaration(
        "Makes an address book and measures the store.", [CommandForm([], options: [Self.people, Self.path])],
        databases: .refused("the demonstration measures a record log"),
        discussion: """
            Makes an address book of people and their groups, closes it, opens it again, and shows the time and bytes of a save, the time to
            open, memory, faults, a page fetched by index, and compaction.
            """,
        examples: [.init("demo --people 1000 --store book.heartwood", "a small one")])

    private let people: Int
    private let path: String

    init(_ arguments: Arguments) throws {
        people = try arguments[Self.people]
        path = try arguments[Self.path] ?? FileManager.default.temporaryDirectory.appendingPathComponent("addressbook.heartwood").path
    }

    func run() throws -> Int32 {
        if StoredModel.isThere(URL(fileURLWithPath: path)) {
            // A user's own store may have an entity of that name.
            let stored = try? StoredModel.read(at: URL(fileURLWithPath: path)).entityVersionHashesByName
            guard stored == AddressBook.model().entityVersionHashesByName else {
                throw ToolError.failure("\(path) exists and is no earlier demo; give another --store")
            }
            try FileManager.default.removeItem(atPath: path)
        }
        Output.line("An address book of \(Output.number(people)) people in \(path)")
        Output.text("")
        try fill()
        let uri = try reopenAndRead()
        try compact()
        let program = Self.program
        Output.text(
            """

            Try next:
              \(program) inspect \(path)
              \(program) inspect \(path) --object \(uri)
              \(program) export \(path) --entity Contact --where 'name BEGINSWITH "Ada"' --sort -birthday --limit 3
              \(program) verify \(path)
            """)
        return 0
    }

    /// The command with which the user runs this build of the tool.
    private static var program: String {
        let path = CommandLine.arguments[0].split(separator: "/")
        guard path.contains(".build") else { return "heartwood" }
        return path.contains("release") ? "swift run -c release heartwood" : "swift run heartwood"
    }

    private func line(_ label: String, _ text: String) {
        Output.line("  \(label.padding(toLength: 34, withPad: " ", startingAt: 0))\(text)")
    }

    private func measure<Result>(_ body: () throws -> Result) rethrows -> (result: Result, seconds: Double) {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try body()
        return (result, (clock.now - start) / .seconds(1))
    }

    private static func time(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.001: String(format: "%.0f µs", seconds * 1_000_000)
        case ..<1: String(format: "%.2f ms", seconds * 1000)
        default: String(format: "%.2f s", seconds)
        }
    }

    // MARK: Steps

    private func fill() throws {
        Output.line("Making it")
        let open = try OpenStore(path: path, model: AddressBook.model(), isReadOnly: false)
        let book = AddressBook(context: open.context)
        let filled = try measure { try book.fill(people: people) }
        line("made and saved, durably", "\(Self.time(filled.seconds)), \(Output.number(Int(Double(people) / filled.seconds))) people a second")
        var times: [Double] = []
        let before = open.log?.statistics ?? StoreStatistics()
        for number in 0..<100 {
            let birthday = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
            times.append(try measure { try book.change(number * (people / 100), birthday: birthday) }.seconds)
        }
        let after = open.log?.statistics ?? StoreStatistics()
        times.sort()
        line("one change, saved durably", "\(Self.time(times[50])) median, \(Self.time(times[98])) 99th percentile")
        line("bytes appended for it", "\((after.bytesAppended - before.bytesAppended) / 100) (one write, one sync)")
        let closed = try measure { try open.close() }
        line("closed, with its indexes written", Self.time(closed.seconds))
    }

    private func reopenAndRead() throws -> String {
        Output.text("\nOpening it again")
        let memoryBefore = ProcessMemory.resident
        let opened = try measure { try OpenStore(path: path, model: AddressBook.model(), isReadOnly: false) }
        let open = opened.result
        line("opened in", Self.time(opened.seconds))
        if let memoryBefore, let now = ProcessMemory.resident { line("memory it took", Output.bytes(now > memoryBefore ? now - memoryBefore : 0)) }
        let page = try measure { try AddressBook(context: open.context).page(of: 20) }
        line("20 people by birthday, by index", "\(Self.time(page.seconds)) (\(open.context.lastQueryDescription))")
        let reads = open.log?.statistics.rowReads ?? 0
        let faults = page.result.filter(\.isFault).count
        let name = page.result.first?.name ?? ""
        line(
            "faults among them",
            "\(faults) of \(page.result.count); reading one name fired one, \((open.log?.statistics.rowReads ?? 0) - reads) further rows read")
        line("the first of them", "\(name), in the group \(page.result.first?.group?.title ?? "-")")
        let members = try measure { try AddressBook(context: open.context).firstGroupCount() }
        line("people in that kind of group", "\(Output.number(members.result)), counted in the index in \(Self.time(members.seconds))")
        if let memoryBefore, let now = ProcessMemory.resident {
            line("memory after all that", Output.bytes(now > memoryBefore ? now - memoryBefore : 0))
        }
        let uri = page.result.first?.objectID.text ?? ""
        try open.close()
        return uri
    }

    private func compact() throws {
        Output.text("\nCompacting it")
        let open = try OpenStore(path: path, model: AddressBook.model(), isReadOnly: false)
        let progress = ProgressBar("compacting")
        let compacted = try measure { try open.log?.compact(progress: progress.show) }
        progress.finish()
        if let report = compacted.result {
            line(
                "log before and after",
                "\(Output.bytes(report.bytesBefore)), \(Output.bytes(report.bytesAfter)) in \(Self.time(compacted.seconds))")
        }
        try open.close()
    }
}
