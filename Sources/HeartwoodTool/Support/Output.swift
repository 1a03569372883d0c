import Foundation
import HeartwoodPlatform
import Synchronization

/// Standard output and standard error of the tool.
enum Output {
    /// Standard output accepts no more; `failure` has the reason, if that is a failure.
    struct Ended: Error {}

    /// The error number of the write that ended standard output; 0 for none.
    private static let ending = Mutex<Int32>(0)

    /// The reason why not everything could be written to standard output. nil if everything was, and also if the reader closed the pipe (`| head`),
    /// which is not the tool's failure.
    static var failure: String? {
        let code = ending.withLock { $0 }
        return code == 0 || code == EPIPE ? nil : String(cString: strerror(code))
    }

    /// Whether standard output accepts no more.
    static var hasEnded: Bool { ending.withLock { $0 } != 0 }

    /// Occupies the standard descriptors that the caller has closed with unusable ones. The next file to be opened, a store, would get the number
    /// otherwise, and the output would go into the store.
    static func takeUpDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes one line for people. Control characters in the data are made visible: they neither begin another line nor command the terminal.
    static func line(_ text: String) { data(DisplayWidth.printable(text)) }

    /// Writes several lines in the same way.
    /// - Parameter first: the colour of the first one.
    static func lines(_ lines: [String], first: Paint? = nil) {
        var shown = lines.map(DisplayWidth.printable)
        if let first, !shown.isEmpty { shown[0] = first.output(shown[0]) }
        data(shown.joined(separator: "\n"))
    }

    /// Writes a text of the tool's own with its line ends.
    static func text(_ text: String) { data(shown(text)) }

    /// Writes a line for programs unchanged.
    static func data(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { try? write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes a message with its line ends. The caller has made text from a store printable.
    /// - Parameter label: the beginning, in the colour of failures.
    static func error(_ text: String, label: String = "") {
        var line = (label.isEmpty ? "" : Paint.bad.error(label)) + shown(text) + "\n"
        line.withUTF8 { _ = send(UnsafeRawBufferPointer($0), to: 2) }
    }

    /// Writes a message of one line, behind which the command goes on.
    static func warning(_ text: String) { error("heartwood: warning: \(DisplayWidth.printable(text))") }

    private static func shown(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { DisplayWidth.printable(String($0)) }.joined(separator: "\n")
    }

    /// Writes to standard output.
    /// - Throws: `Ended`, at this call and every later one.
    static func write(_ bytes: UnsafeRawBufferPointer) throws(Ended) {
        let isWritten = ending.withLock { ending in
            if ending == 0 { ending = send(bytes, to: 1) }
            return ending == 0
        }
        guard isWritten else { throw Ended() }
    }

    /// - Returns: the error number; 0 if everything was written.
    private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            #if canImport(Glibc)
                let count = Glibc.write(descriptor, start + done, bytes.count - done)
            #elseif canImport(Musl)
                let count = Musl.write(descriptor, start + done, bytes.count - done)
            #elseif canImport(Android)
                let count = Android.write(descriptor, start + done, bytes.count - done)
            #else
                let count = Darwin.write(descriptor, start + done, bytes.count - done)
            #endif
            guard count < 0 else {
                done += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // The caller's descriptor is non-blocking; the tool has nothing better to do than wait.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, -1)
            case let code: return code
            }
        }
        return 0
    }

    static var isTerminal: Bool { isatty(2) == 1 }

    /// The width of the terminal at standard output in columns; nil if it is not a terminal or does not report its width.
    static var terminalWidth: Int? {
        guard isatty(1) == 1 else { return nil }
        var size = winsize()
        return ioctl(1, numericCast(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }

    static func bytes(_ count: UInt64) -> String {
        switch count {
        case ..<1024: "\(count) B"
        case ..<(1024 * 1024): String(format: "%.1f KiB", Double(count) / 1024)
        case ..<(1024 * 1024 * 1024): String(format: "%.1f MiB", Double(count) / 1024 / 1024)
        default: String(format: "%.2f GiB", Double(count) / 1024 / 1024 / 1024)
        }
    }

    static func number(_ value: Int) -> String {
        let digits = String(abs(value))
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return value < 0 ? "-" + result : result
    }

    /// A number and what it counts.
    /// - Parameter plural: the noun's plural; nil if it ends in an s.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(self.number(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}
