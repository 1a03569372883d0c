import Foundation

/// The figure of one workload for one peer at one size.
struct Measurement: Codable {
    var workload: String
    var rows: Int
    var peer: String
    /// Median of the repetitions, in the unit; nil if the workload does not apply to the peer.
    var value: Double?
    var unit: String
}

enum Clock {
    static func seconds<Result>(_ body: () throws -> Result) rethrows -> (Result, Double) {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try body()
        return (result, (clock.now - start) / .seconds(1))
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    static func percentile99(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }
}

enum ProcessFigures {
    /// Bytes passed to write calls so far.
    static var bytesWritten: UInt64 { field("/proc/self/io", "wchar:") }
    /// Private memory, without mapped files.
    static var privateMemory: UInt64 { field("/proc/self/status", "RssAnon:") * 1024 }

    private static func field(_ path: String, _ name: String) -> UInt64 {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { UInt64($0) } ?? 0
    }
}
