import Foundation
import HeartwoodFileReading
import HeartwoodTestSupport
import Testing

/// The inflater reads the streams that python's zlib makes, and refuses those that zlib refuses.
@Suite struct InflaterComparisonTests {
    /// The verdict of zlib on a stream.
    private enum Verdict: Equatable {
        case whole(bytes: [UInt8], unused: Int)
        case cutOff
        case bad
    }

    private struct Case {
        let stream: [UInt8]
        let verdict: Verdict
    }

    private static let common = """
        import random, zlib
        def deflated(data, level, strategy, bits):
            made = zlib.compressobj(level, zlib.DEFLATED, -bits, 9, strategy)
            return made.compress(data) + made.flush()
        def report(stream):
            read = zlib.decompressobj(-15)
            try:
                out = read.decompress(stream, 1 << 20)
                while not read.eof and read.unconsumed_tail: raise SystemExit('longer than expected')
                print(stream.hex(), 'whole ' + out.hex() + ' ' + str(len(read.unused_data)) if read.eof else 'cut')
            except zlib.error:
                print(stream.hex(), 'bad')
        generator = random.Random(35)
        words = [b'entity', b'NSAttributeDescription', b'\\0\\1\\2', b' ', b'name']
        text = b''.join(generator.choice(words) for _ in range(400))
        noise = bytes(generator.randrange(256) for _ in range(700))

        """

    private static let made = """
        contents = [b'', b'a', b'ab' * 3, bytes(300), text[:40], text, noise, text + noise + text, bytes(70000), text * 20]
        for content in contents:
            for level in range(10):
                for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED):
                    if len(content) < 5000 or level in (1, 9): report(deflated(content, level, strategy, 15))
            for bits in range(9, 15): report(deflated(content, 6, zlib.Z_DEFAULT_STRATEGY, bits))
        """

    private static let damaged = """
        for content, strategy in ((b'ab' * 3, 0), (text[:60], 0), (text[:200], zlib.Z_FIXED), (noise[:12], 0), (text[:300], zlib.Z_HUFFMAN_ONLY)):
            for level in (0, 9):
                stream = deflated(content, level, strategy, 15)
                for count in range(len(stream)): report(stream[:count])
                report(stream + b'more')
                for position in range(len(stream)):
                    for mask in (1, 2, 4, 8, 16, 32, 64, 128, 255):
                        report(stream[:position] + bytes([stream[position] ^ mask]) + stream[position + 1:])
        """

    private static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))
    private static let absence = "there is no python3, whose zlib would be compared"

    private static func run(_ script: String) throws -> [Case] {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: try #require(python))
        process.arguments = ["-c", common + script]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try text.split(separator: "\n").map { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            try #require(words.count >= 2)
            let verdict: Verdict = switch words[1] {
            case "whole": .whole(bytes: bytes(words[2]), unused: try #require(Int(words[3])))
            case "cut": .cutOff
            default: .bad
            }
            return Case(stream: bytes(words[0]), verdict: verdict)
        }
    }

    private static func bytes(_ hex: Substring) -> [UInt8] {
        let digits = hex.utf8.map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private static func verdict(_ stream: [UInt8]) -> Verdict {
        do {
            let found = try Inflater.inflate(stream, sizeMax: 1 << 20)
            return .whole(bytes: found.bytes, unused: stream.count - found.inputCount)
        } catch { return error.reason == .cutOff ? .cutOff : .bad }
    }

    @Test(.enabled(if: python != nil, "\(absence)"))
    func `Every level, strategy and window size of zlib is inflated`() throws {
        let cases = try Self.run(Self.made)
        #expect(cases.count > 400)
        for made in cases {
            guard case .whole = made.verdict else {
                Issue.record("zlib refuses its own stream")
                continue
            }
            #expect(Self.verdict(made.stream) == made.verdict, "\(made.stream.count) bytes")
        }
    }

    @Test(.enabled(if: python != nil, "\(absence)"))
    func `A stream with a wrong bit, or cut off, has the result that zlib gives`() throws {
        let cases = try Self.run(Self.damaged)
        for verdict in [Verdict.cutOff, .bad] { #expect(cases.contains { $0.verdict == verdict }) }
        for damaged in cases {
            let found = Self.verdict(damaged.stream)
            #expect(found == damaged.verdict, "\(damaged.stream)")
        }
    }
}
