import Foundation

/// A process that each second writes a file, syncs it, and gives it its name: the least that a backup to a directory does to the writer's disk.
final class SyncingProcess {
    private let process: Process
    private let input = Pipe()
    private let folder: URL

    /// About the bytes of a thousand small commits.
    private static let byteCount = 200_000

    init(in directory: URL) throws {
        folder = directory.appendingPathComponent("synced")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process = ChildProcess.process(with: [BackupProcess.sync, folder.path])
        process.standardInput = input
        try process.run()
    }

    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        try FileManager.default.removeItem(at: folder)
    }

    /// The child's side: goes on until the input ends.
    static func sync(in folder: URL) throws -> Never {
        Thread.detachNewThread {
            _ = FileHandle.standardInput.readDataToEndOfFile()
            exit(0)
        }
        let bytes = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 0x9E37 >> 4) }), made = folder.appendingPathComponent("new")
        var number = 0
        while true {
            Thread.sleep(forTimeInterval: 1)
            try bytes.write(to: made)
            let file = open(made.path, O_RDWR), list = open(folder.path, O_RDONLY)
            fsync(file)
            number += 1
            rename(made.path, folder.appendingPathComponent("\(number)").path)
            fsync(list)
            close(file)
            close(list)
        }
    }
}
