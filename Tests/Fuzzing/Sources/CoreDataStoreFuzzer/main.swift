import Foundation
import FuzzerRun

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("store-fuzzer-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let store = folder.appendingPathComponent("Fuzzed.sqlite")

try FuzzerRun.main(seeds: StoreInput.writeSeeds) { bytes in
    guard let input = StoreInput(bytes) else { return }
    do {
        try input.write(to: store)
    } catch {
        fatalError("the fuzzer cannot write its file: \(error)")
    }
    for error in StoreExercise.errors(at: store, model: nil) where error.domain != NSCocoaErrorDomain { fatalError("\(error)") }
}
