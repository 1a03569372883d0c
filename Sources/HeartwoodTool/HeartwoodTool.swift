import Foundation
import HeartwoodFileReading
import RecordLog

/// The `heartwood` command.
package enum HeartwoodTool {
    static var commands: [any Command.Type] {
        [
            DemoCommand.self, ImportCommand.self, ExportCommand.self, QueryCommand.self, InspectCommand.self, VerifyCommand.self,
            HistoryCommand.self, LogCommand.self, DiffCommand.self, CompactCommand.self, SalvageCommand.self, ReportCommand.self, ModelCommand.self,
            MigrateCommand.self, ConvertCommand.self, BackupCommand.self, RestoreCommand.self, PromoteCommand.self, CherryPickCommand.self,
            GenerateCommand.self, CompileCommand.self,
        ]
    }

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
        if ["--help", "-h"].contains(name) || arguments == ["help"] {
            Output.text(usage)
            return 0
        }
        if name == "help" { return run([arguments[1], "--help"]) }
        guard let command = commands.first(where: { $0.name == name }) else {
            Output.error("heartwood: there is no command \"\(DisplayWidth.printable(name))\"; `heartwood --help` lists them")
            return 2
        }
        let rest = Array(arguments.dropFirst())
        if rest.contains("--help") || rest.contains("-h") {
            Output.text(command.help)
            return 0
        }
        do {
            let words = try DatabaseStore.withoutPasswords(rest)
            if let advice = command.adviceForDatabases { try DatabaseStore.refuse(words, advice) }
            return try command.init(Arguments(words, options: command.options, flags: command.flags)).run()
        } catch is Output.Ended {
            return 0
        } catch {
            Output.error("heartwood \(name): \(ToolError.message(of: error))")
            return ToolError.exitCode(of: error)
        }
    }

    static var usage: String {
        """
        heartwood: object stores in one file

        USAGE: heartwood COMMAND [ARGUMENTS]

        \(commands.map { "  \($0.name.padding(toLength: 12, withPad: " ", startingAt: 0))\($0.summary)" }.joined(separator: "\n"))

        `heartwood COMMAND --help` says more. A store describes itself, so only import needs a model.
        Exit code: 0 done; 1 failed or damaged; 2 wrong usage, or not a store;
        \(ReferenceDoubts.help).
        """
    }
}

/// One subcommand.
protocol Command {
    static var name: String { get }
    static var summary: String { get }
    static var help: String { get }
    /// The options that take a value, and the flags that do not; without their dashes.
    static var options: Set<String> { get }
    static var flags: Set<String> { get }
    /// What to do in place of the command where a store is in a PostgreSQL database; nil for a command that takes such a store.
    static var adviceForDatabases: String? { get }
    init(_ arguments: Arguments) throws
    /// - Returns: the exit code.
    func run() throws -> Int32
}

extension Command {
    static var adviceForDatabases: String? { nil }
}
