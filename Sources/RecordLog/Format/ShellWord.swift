/// A text as one word of a shell's command, for the commands that remedies show.
package enum ShellWord {
    /// - Returns: the text itself, or in quotes if a shell would read one of its characters, or the command the text as an option.
    package static func quoted(_ text: String) -> String {
        let text = text.hasPrefix("-") ? "./" + text : text
        guard text.isEmpty || !text.utf8.allSatisfy(isPlain) else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// Bytes above ASCII belong to letters, which no shell reads.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: "/._-+,:@%=".utf8.contains(byte)
        }
    }
}
