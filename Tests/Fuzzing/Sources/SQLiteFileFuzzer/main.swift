import Foundation

/// libFuzzer's own `main`, which calls the given function for each input.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

// `--seeds DIRECTORY` writes the seed corpus; all other arguments are libFuzzer's.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--seeds" {
    try DatabaseInput.writeSeeds(to: CommandLine.arguments[2])
    exit(0)
}
var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(runFuzzer(&count, &arguments) { data, count in
    guard let input = DatabaseInput(UnsafeBufferPointer(start: data, count: count)) else { return 0 }
    _ = DatabaseExercise.run(input.main, log: input.log, journal: input.journal)
    return 0
})
