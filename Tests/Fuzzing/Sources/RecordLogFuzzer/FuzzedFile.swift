import Foundation

@testable import RecordLog

/// Whole files, through the system's own mapping: a read past a file's last page faults here as it does for a user.
enum FuzzedFile {
    private static let path: String = {
        let directory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        return directory + "/heartwood-fuzzing-\(ProcessInfo.processInfo.processIdentifier).heartwood"
    }()

    static func run(_ input: FuzzedInput) {
        var bytes = input.body
        input.repair.apply(to: &bytes)
        unlink(path)
        defer { unlink(path) }
        do {
            let system = POSIXFileSystem()
            let file = try system.open(path, .create)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
            var exercise = StoreExercise(path: path, options: HostileSeeds.options(system))
            if let unexplained = exercise.run(writes: input.writes) { fatalError("\(unexplained)") }
        } catch {
            fatalError("the fuzzer cannot write its file: \(error)")
        }
    }
}
