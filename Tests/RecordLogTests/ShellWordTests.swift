import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct ShellWordTests {
    @Test(arguments: [
        "/a/store", "/my files/a", "/it's", "/$HOME", "/a;b", "/a\"b", "/a`b`", "~/a", "/a*?[b]", "/a\nb", "/\u{E9}\u{1F332}", "", "a\\b", "/a'b'' c",
    ])
    func `A shell reads a path of a remedy's command as one word, and as that path`(path: String) throws {
        let shell = ChildProcess(), pipe = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "printf '%s|' \(ShellWord.quoted(path))"]
        shell.standardOutput = pipe
        try shell.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        shell.waitUntilExit()
        #expect(String(decoding: output, as: UTF8.self) == path + "|")
    }

    @Test
    func `A plain path stays as it is, and one that begins like an option does not`() {
        #expect(ShellWord.quoted("/data/Library-1.heartwood") == "/data/Library-1.heartwood")
        #expect(ShellWord.quoted("-rf") == "./-rf")
        #expect(StoreError.replica("/my files/a").remedy.contains("`heartwood promote '/my files/a'`"))
    }
}
