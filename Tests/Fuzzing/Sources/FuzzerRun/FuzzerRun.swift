import Foundation

/// libFuzzer's own `main`, which calls the given function for each input.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// A fuzzer's program: `--seeds DIRECTORY` writes the seed corpus; all other arguments are libFuzzer's.
public enum FuzzerRun {
    /// libFuzzer takes a function without a context, so it finds the body here. It calls on one thread.
    nonisolated(unsafe) private static var body: (UnsafeBufferPointer<UInt8>) -> Void = { _ in }

    public static func main(seeds: (_ directory: String) throws -> Void, body: @escaping (UnsafeBufferPointer<UInt8>) -> Void) throws -> Never {
        if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--seeds" {
            try seeds(CommandLine.arguments[2])
            exit(0)
        }
        Self.body = body
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments) { data, count in
            FuzzerRun.body(UnsafeBufferPointer(start: data, count: count))
            return 0
        })
    }
}
