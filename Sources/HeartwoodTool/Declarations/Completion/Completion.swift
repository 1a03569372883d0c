import Foundation
import Heartwood

/// What a shell may put in place of the word at the cursor.
enum Completion: Equatable {
    struct Candidate: Equatable {
        let word: String
        let meaning: String
    }

    case words([Candidate])
    /// Paths, which the shell finds itself.
    case files
    case folders

    /// - Parameters:
    ///   - words: those of a command line behind `heartwood`, and the one at the cursor last.
    static func of(_ words: [String]) -> Completion {
        let current = words.last ?? ""
        guard words.count > 1, let command = HeartwoodTool.commands.first(where: { $0.name == words[0] }) else {
            let isFirst = words.count < 2 || words.count == 2 && words[0] == HeartwoodTool.helpWord
            return isFirst ? CompletionLine.choose(commands(isOnlyWord: words.count < 2), current) : .words([])
        }
        return CompletionLine(command.declaration, Array(words[1..<(words.count - 1)]), current).completion
    }

    private static func commands(isOnlyWord: Bool) -> [Candidate] {
        let commands = HeartwoodTool.commands.map { Candidate(word: $0.name, meaning: $0.declaration.summary) }
        guard isOnlyWord else { return commands }
        return commands + [
            Candidate(word: HeartwoodTool.helpWord, meaning: "Says what a command does."),
            Candidate(word: "--help", meaning: "Lists the commands."), Candidate(word: "--version", meaning: "Says which release this is."),
        ]
    }

    /// In lines: what is wanted, and then each candidate with its meaning behind a tab.
    var lines: [String] {
        switch self {
        case .files: ["files"]
        case .folders: ["folders"]
        case .words(let candidates): ["words"] + candidates.map { "\(DisplayWidth.printable($0.word))\t\(DisplayWidth.printable($0.meaning))" }
        }
    }
}
