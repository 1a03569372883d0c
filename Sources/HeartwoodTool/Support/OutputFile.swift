import Foundation
import HeartwoodPlatform
import RecordLog

/// A file that a command writes completely, replacing an existing one.
///
/// Afterwards the path has the old file or the new one, complete. The new one has the old one's permissions, owner and group. A crash may leave the
/// new one under another name, which begins with the path.
struct OutputFile {
    /// Of the commands that print: the file that gets what they print.
    static let option = Parameter.output("FILE", .file, "writes to FILE and not to standard output; a whole new file replaces one that is there")

    private let target: String
    /// The name until everything is written.
    private let beside: String
    private let made: any StorageFile

    /// - Throws: `isDirectory`, and `notAStore` for a pipe, a socket or a device; `permissionDenied`, `noSpace`, `io`.
    private init(_ path: String) throws(StoreError) {
        let files = POSIXFileSystem()
        // Resolved, so that a symbolic link stays.
        target = (try? files.resolved(path)) ?? path
        let isThere = try files.identity(of: target) != nil
        // A path that is not a file is refused before anything is written.
        if isThere { _ = try files.open(target, .readOnly) }
        beside = target + ".\(String(files.random(), radix: 36))"
        made = try files.open(beside, isThere ? .createPrivate : .create)
    }

    private func finish() throws(StoreError) { try LogStore.rename(beside, to: target, replacing: true) }

    private func discard() { try? POSIXFileSystem().remove(beside) }

    /// Replaces the file atomically.
    /// - Throws: `isDirectory`, and `notAStore` for a pipe, a socket or a device; `permissionDenied`, `noSpace`, `io`.
    static func replace(_ path: String, with data: Data) throws(StoreError) {
        let file = try OutputFile(path)
        do throws(StoreError) {
            try data.withUnsafeBytes { bytes in Result { () throws(StoreError) in try file.made.write(bytes, at: 0) } }.get()
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }

    /// Runs a command whose standard output goes into a file.
    /// - Parameters:
    ///   - path: nil, or a dash, for standard output itself.
    ///   - inputs: the command's other words. A file that it reads is not replaced.
    /// - Throws: the command's error; the file is then as it was.
    static func collect<Result>(_ path: String?, besides inputs: [String], _ body: () throws -> Result) throws -> Result {
        guard let path, path != "-" else { return try body() }
        try refuseInput(path, inputs)
        let file: OutputFile
        do {
            file = try OutputFile(path)
        } catch {
            throw ToolError.failure("\(path) cannot be written: \(error.message)")
        }
        do {
            // For the rest of the process, so that everything that writes to standard output writes there.
            let descriptor = open(file.beside, O_WRONLY)
            guard descriptor >= 0, dup2(descriptor, 1) == 1 else { throw ToolError.failure("\(path) cannot be written: \(String(cString: strerror(errno)))") }
            close(descriptor)
            let result = try body()
            guard Output.failure == nil else { throw Output.Ended() }
            try file.finish()
            return result
        } catch {
            file.discard()
            throw error
        }
    }

    /// Whether a path has a record log, damaged or not.
    private static func isLog(_ path: String) -> Bool {
        var options = StoreOptions()
        options.isReadOnly = true
        do {
            try LogStore.open(path: path, options: options).close()
            return true
        } catch {
            return ![StoreError.Code.notAStore, .notFound, .isDirectory].contains(error.code)
        }
    }

    private static func refuseInput(_ path: String, _ inputs: [String]) throws {
        func resolved(_ path: String) -> URL { URL(fileURLWithPath: path).resolvingSymlinksInPath() }
        guard !inputs.contains(where: { resolved($0) == resolved(path) }), !isLog(path), !CoreDataStore.isOne(path) else {
            throw ToolError.usage("\(path) is a store or an input, which \(option.title) would replace; give another file")
        }
    }
}
