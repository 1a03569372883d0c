import Foundation
import Platform
import Synchronization

/// Where the tool writes.
enum Output {
    /// Standard output took no more; `failure` says why, where that is one.
    struct Ended: Error {}

    /// The error number after which nothing more was written to standard output; 0 for none.
    private static let ending = Mutex<Int32>(0)

    /// Why not everything could be written to standard output; nil where it was, and where the reader went away (`| head`), which is no
    /// failure of the tool.
    static var failure: String? {
        let code = ending.withLock { $0 }
        return code == 0 || code == EPIPE ? nil : String(cString: strerror(code))
    }

    /// Takes up the standard descriptors that the caller has closed, in a way that they cannot be used: the next file to be opened, a
    /// store, would get the number, and with it what is printed.
    static func takeUpDescriptors() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// One line for people. Control characters, which data may have, are shown: they neither begin another line nor command the terminal.
    static func line(_ text: String) { data(DisplayWidth.printable(text)) }

    /// The same of several lines.
    static func lines(_ lines: [String]) { data(lines.map(DisplayWidth.printable).joined(separator: "\n")) }

    /// A text of the tool's own, with the line ends that it has.
    static func text(_ text: String) { data(shown(text)) }

    /// For programs: as it is.
    static func data(_ text: String) { try? write(Data((text + "\n").utf8)) }

    /// A message, with the line ends that it has: what comes from a store in it is made printable before.
    static func error(_ text: String) { _ = send(Data((shown(text) + "\n").utf8), to: 2) }

    private static func shown(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { DisplayWidth.printable(String($0)) }.joined(separator: "\n")
    }

    /// Writes to standard output.
    /// - Throws: `Ended`, now and ever after.
    static func write(_ bytes: Data) throws(Ended) {
        let isWritten = ending.withLock { ending in
            if ending == 0 { ending = send(bytes, to: 1) }
            return ending == 0
        }
        guard isWritten else { throw Ended() }
    }

    /// - Returns: the error number; 0 where everything was written.
    private static func send(_ bytes: Data, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
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
                    // Whoever gave the descriptor does not want it to wait; the tool has nothing better to do.
                    var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&wanted, 1, -1)
                case let code: return code
                }
            }
            return 0
        }
    }

    static var isTerminal: Bool { isatty(2) == 1 }

    /// The columns of the terminal that standard output goes to; nil where it goes elsewhere, or the terminal does not tell.
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
}
