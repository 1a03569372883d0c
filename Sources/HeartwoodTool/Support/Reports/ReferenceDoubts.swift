import Foundation
import Heartwood

/// References of a store whose model was guessed, or is the converted form of such a one.
enum ReferenceDoubts {
    /// The exit code of a command that did its work with references that are not sure.
    static let exitCode: Int32 = 3

    static let meaning = "done, but references are guessed and not sure: --model names the store's model"

    /// A line that says how many there are, and a line for each.
    static func lines(_ doubts: [String]) -> [String] {
        guard !doubts.isEmpty else { return [] }
        return ["\(Output.count(doubts.count, "relationship")) \(doubts.count == 1 ? "is" : "are") guessed and not sure:"] + doubts.map { "  " + $0 }
    }

    static func tell(_ doubts: [String]) {
        for line in lines(doubts) { Output.line(line) }
    }

    /// The exit code of a command that found nothing else.
    static func code(_ doubts: [String]) -> Int32 { doubts.isEmpty ? 0 : exitCode }
}
