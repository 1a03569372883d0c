import Foundation
internal import HeartwoodFileReading

/// The build plugin's executable: writes all generated code of one target.
///
/// A plugin must name its outputs in advance, and the build system may use names from an earlier reading of the model. So a class whose files were
/// named is written to them, under Xcode's names. Other classes and the accessors of `@NSManaged` properties go into one more file, which is always
/// written. A named file that is no longer needed says so in a comment.
public enum PluginRun {
    /// - Parameter arguments: MODULE IMPORT OUTPUT, then `--file PATH` for each named file, then the paths of models and sources; or
    ///   `--compile MODEL OUTPUT [MODULE]`.
    /// - Returns: the exit code. Errors are printed in the compiler's format.
    public static func run(_ arguments: [String]) -> Int32 {
        if (3...4).contains(arguments.count), arguments[0] == "--compile" {
            return compile(arguments[1], to: arguments[2], module: arguments.count == 4 ? arguments[3] : nil)
        }
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
            var others: [String] = []
            var named = Dictionary(files.map { (URL(fileURLWithPath: $0).lastPathComponent, $0) }) { first, _ in first }
            for model in models {
                let writer = ClassWriter(model, importing: imported)
                for file in writer.files() {
                    if let path = named.removeValue(forKey: file.name) {
                        try write(file.text, to: path)
                    } else {
                        others.append(file.body)
                    }
                }
            }
            for path in named.values { try write("// The model asks for no code of this name any more.\n", to: path) }
            let heading = "// Made by the plugin HeartwoodModels.\n\nimport Foundation\n@_spi(GeneratedCode) import \(imported)\n"
            let managed = accessors.text.isEmpty ? "" : "\n#if !canImport(Darwin)\n\n\(accessors.text)#endif\n"
            try write(heading + others.map { "\n" + $0 }.joined() + managed, to: output)
            return 0
        } catch {
            return failed(error)
        }
    }

    private static func compile(_ model: String, to output: String, module: String?) -> Int32 {
        do {
            try ModelCompiler.compile(model, to: output, module: module) { contents in
                do {
                    return try VersionHashReader.hashes(contents)
                } catch let error as CodeError {
                    report(error.description.replacing(": ", with: ": warning: VersionInfo.plist gets no hashes of this version: ", maxReplacements: 1))
                    return nil
                }
            }
            return 0
        } catch {
            return failed(error)
        }
    }

    /// - Returns: the exit code.
    private static func failed(_ error: any Error) -> Int32 {
        if let error = error as? CodeError {
            report(error.description.replacing(": ", with: ": error: ", maxReplacements: 1))
        } else {
            report("error: \(error.localizedDescription)")
        }
        return 1
    }

    private static func text(of path: String) throws -> String {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try data.withUnsafeBytes { bytes in
            guard let fault = UTF8Fault(in: bytes) else { return }
            let position = TextPosition(fault.offset, in: bytes)
            throw CodeError(path, position.line, "column \(position.column): \(fault.text).")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private static func isModel(_ path: String) -> Bool { path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".xcdatamodel") }

    /// Leaves a file with the same contents as it is, so that its dependents are not recompiled. Writes in place: an atomic write waits for the
    /// disk, and a file that a crash leaves half-written differs and is written again.
    private static func write(_ text: String, to path: String) throws {
        let data = Data(text.utf8)
        guard FileManager.default.contents(atPath: path) != data else { return }
        try data.write(to: URL(fileURLWithPath: path))
    }

    private static func report(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }
}
