import Foundation
import Heartwood
import HeartwoodFileReading
import RecordLog

/// The `heartwood` command.
package enum HeartwoodTool {
    static var commands: [any Command.Type] {
        [
            DemoCommand.self, ImportCommand.self, ExportCommand.self, QueryCommand.self, UpdateCommand.self, DeleteCommand.self,
            InspectCommand.self, VerifyCommand.self, HistoryCommand.self, LogCommand.self, DiffCommand.self, CompactCommand.self,
            SalvageCommand.self, ReportCommand.self, ModelCommand.self, MigrateCommand.self, ConvertCommand.self, BackupCommand.self,
            RestoreCommand.self, PromoteCommand.self, CherryPickCommand.self, GenerateCommand.self, CompileCommand.self,
            CompletionsCommand.self, ManualCommand.self,
        ]
    }

    /// The release, which CHANGELOG.md describes first.
    static let version = "0.1.0"
    /// Its day, which the manual page states.
    static let releaseDay = "2026-11-30"

    /// `heartwood help COMMAND` is `heartwood COMMAND --help`.
    static let helpWord = "help"

    /// Runs the process's arguments, and ends the process.
    package static func main() {
        Output.takeUpDescriptors()
        let code = argumentFault.map { fault in
            Output.error("heartwood: \(fault)")
            return 2
        } ?? run(Array(CommandLine.arguments.dropFirst()))
        if let failure = Output.failure { Output.error("heartwood: standard output could not be written: \(failure)") }
        exit(Output.failure == nil ? code : max(code, 1))
    }

    /// The same for a program with the networking.
    /// - Parameter makingDestination: from a URL of a bucket.
    package static func main(makingDestination: @escaping @Sendable (String) throws -> any BackupDestination) {
        BucketBackup.take(makingDestination)
        main()
    }

    /// Finds an argument that is not UTF-8. Swift would replace its bytes by other characters, in a predicate as in a path.
    private static var argumentFault: String? {
        for number in 0..<Int(CommandLine.argc) {
            guard let text = CommandLine.unsafeArgv[number] else { continue }
            let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
            guard let fault = UTF8Fault(in: bytes) else { continue }
            let position = TextPosition(fault.offset, in: bytes)
            return "argument \(number), line \(position.line), column \(position.column): \(fault.text)"
        }
        return nil
    }

    /// - Returns: the exit code.
    static func run(_ arguments: [String]) -> Int32 {
        guard let name = arguments.first else {
            Output.error(usage)
            return 2
        }
        if ["--help", "-h"].contains(name) || arguments == [helpWord] {
            Output.text(usage)
            return 0
        }
        if name == "--version" {
            Output.line("heartwood \(version)")
            return 0
        }
        if name == helpWord { return run([arguments[1], "--help"]) }
        if name == CompleteCommand.name { return run(CompleteCommand.self, Array(arguments.dropFirst())) }
        guard let command = commands.first(where: { $0.name == name }) else {
            let suggestion = Spelling.suggestion(for: name, among: commands.map { $0.name })
            Output.error("heartwood: there is no command \"\(DisplayWidth.printable(name))\"\(suggestion); `heartwood --help` lists them")
            return 2
        }
        return run(command, Array(arguments.dropFirst()))
    }

    private static func run(_ command: any Command.Type, _ words: [String]) -> Int32 {
        let declaration = command.declaration
        if words.prefix(while: { $0 != "--" }).contains(where: ["--help", "-h"].contains) {
            Output.text(HelpText(command.name, declaration, terminal: Output.terminalWidth).text)
            return 0
        }
        do {
            try BucketBackup.handOver(words)
            let words = try DatabaseStore.withoutPasswords(words)
            if case .refused(let advice) = declaration.databases { try DatabaseStore.refuse(words, advice) }
            let arguments = try Arguments(words, declaration), made = try command.init(arguments)
            for option in arguments.unused { Output.warning("\(command.name) \(arguments.keyword ?? "") does not use \(option.title)") }
            return try OutputFile.collect(made.outputFile, besides: arguments.positional) { try made.run() }
        } catch is Output.Ended {
            return 0
        } catch {
            Output.error(" \(ToolError.message(of: error))", label: "heartwood \(command.name):")
            return ToolError.exitCode(of: error)
        }
    }

    /// What the tool is.
    static let title = "object stores in one file"

    static let overview = """
        `heartwood COMMAND --help` says more, and `heartwood --version` which release this is. A store describes itself, so only import needs a model.

        Exit codes: 0 done; 1 failed or damaged; 2 wrong usage, or not a store; 3 \(ReferenceDoubts.meaning).
        """

    static var usage: String {
        let width = commands.map { $0.name.count }.max() ?? 0
        let list = commands.flatMap { command in
            WrappedText.lines(command.declaration.summary, width: HelpText.columns - width - 4).enumerated().map { number, line in
                "  " + DisplayWidth.padded(number == 0 ? command.name : "", to: width + 2) + line
            }
        }
        let more = WrappedText.paragraphs(overview).map { WrappedText.lines($0, width: HelpText.columns).joined(separator: "\n") }
        return (["heartwood: \(title)", "USAGE: heartwood COMMAND [ARGUMENTS]", list.joined(separator: "\n")] + more).joined(separator: "\n\n")
    }
}

/// One subcommand.
protocol Command {
    static var name: String { get }
    static var declaration: CommandDeclaration { get }
    /// The file that gets what the command prints; nil for standard output.
    var outputFile: String? { get }
    init(_ arguments: Arguments) throws
    /// - Returns: the exit code.
    func run() throws -> Int32
}

extension Command {
    var outputFile: String? { nil }
}
