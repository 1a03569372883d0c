internal import FileReading
import Foundation

/// What the build plugin's executable does: all generated code of one target.
///
/// A plugin has to name its outputs beforehand, and the build system may go on with the names of an earlier look at the model. So a class
/// whose files were named gets them, as Xcode calls them; what was not named goes into one file more, which always is, together with
/// the accessors of `@NSManaged` properties; and a file that was named and is not needed any more says so.
public enum PluginRun {
    /// - Parameter arguments: MODULE IMPORT OUTPUT, then `--file PATH` for each file of a class, then the models' and the sources' paths; or
    ///   `--compile MODEL OUTPUT`.
    /// - Returns: the exit code; what went wrong is printed as the compiler prints its errors.
    public static func run(_ arguments: [String]) -> Int32 {
        if arguments.count == 3, arguments[0] == "--compile" { return compile(arguments[1], to: arguments[2]) }
        guard arguments.count >= 3 else {
            report("usage: heartwood-generate MODULE IMPORT OUTPUT [--file PATH]... [MODEL|SOURCE]...")
            return 2
        }
        let (module, imported, output) = (arguments[0], arguments[1], arguments[2])
        do {
            var files: [String] = [], inputs: [String] = []
            var rest = arguments.dropFirst(3)
            while let next = rest.popFirst() {
                if next == "--file" { files += rest.popFirst().map { [$0] } ?? [] } else { inputs.append(next) }
            }
            let models = try inputs.filter(isModel).map(CodeModelReader.read)
            let sources = try inputs.filter { !isModel($0) }.map {
                ManagedAccessorWriter.Source(path: $0, text: try text(of: $0))
            }
            let accessors = ManagedAccessorWriter(module: module, models: models, sources: sources)
            for warning in accessors.warnings { report(warning) }
            guard accessors.problems.isEmpty else {
                for problem in accessors.problems { report(problem) }
                return 1
            }
            var others: [Substring] = []
            var named = Dictionary(files.map { (URL(fileURLWithPath: $0).lastPathComponent, $0) }) { first, _ in first }
            for model in models {
                let writer = ClassWriter(model, importing: imported)
                for file in writer.files() {
                    if let path = named.removeValue(forKey: file.name) {
                        try write(file.text, to: path)
                    } else {
                        others.append(writer.body(of: file))
                    }
                }
            }
            for path in named.values { try write("// The model asks for no code of this name any more.\n", to: path) }
            let heading = "// Made by the plugin HeartwoodModels.\n\nimport Foundation\nimport \(imported)\n"
            let managed = accessors.text.isEmpty ? "" : "\n#if !canImport(Darwin)\n\n\(accessors.text)#endif\n"
            try write(heading + others.map { "\n" + $0 }.joined() + managed, to: output)
            return 0
        } catch let error as CodeError {
            report(error.description.replacing(": ", with: ": error: ", maxReplacements: 1))
        } catch {
            report("error: \(error.localizedDescription)")
        }
        return 1
    }

    private static func compile(_ model: String, to output: String) -> Int32 {
        do {
            try ModelCompiler.compile(model, to: output)
            return 0
        } catch let error as CodeError {
            report(error.description.replacing(": ", with: ": error: ", maxReplacements: 1))
        } catch {
            report("error: \(error.localizedDescription)")
        }
        return 1
    }

    private static func text(of path: String) throws -> String {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try data.withUnsafeBytes { bytes in
            guard let fault = UTF8Fault(in: bytes) else { return }
            let place = TextPlace(fault.offset, in: bytes)
            throw CodeError(path, place.line, "column \(place.column): \(fault.text).")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static func isModel(_ path: String) -> Bool { path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".xcdatamodel") }

    /// A file that says the same already is left, so that what depends on it is not compiled again. In place: an atomic write waits for
    /// the disk, and what a crash leaves half-written is seen to be different.
    private static func write(_ text: String, to path: String) throws {
        let data = Data(text.utf8)
        guard FileManager.default.contents(atPath: path) != data else { return }
        try data.write(to: URL(fileURLWithPath: path))
    }

    private static func report(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }
}
