import Foundation

/// What the build plugin's executable does: all generated code of one target, in one file.
///
/// One file, since a plugin has to name its outputs before anything has read the model.
public enum PluginRun {
    /// - Parameter arguments: MODULE IMPORT OUTPUT, then the models' and the sources' paths.
    /// - Returns: the exit code; what went wrong is printed as the compiler prints its errors.
    public static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count >= 3 else {
            report("usage: heartwood-generate MODULE IMPORT OUTPUT [MODEL|SOURCE]...")
            return 2
        }
        let (module, imported, output) = (arguments[0], arguments[1], arguments[2])
        do {
            let paths = arguments.dropFirst(3)
            let models = try paths.filter(isModel).map(CodeModelReader.read)
            let sources = try paths.filter { !isModel($0) }.map {
                ManagedAccessorWriter.Source(path: $0, text: try String(contentsOfFile: $0, encoding: .utf8))
            }
            let accessors = ManagedAccessorWriter(module: module, models: models, sources: sources)
            guard accessors.problems.isEmpty else {
                for problem in accessors.problems { report(problem) }
                return 1
            }
            let heading = "// Made by the plugin HeartwoodModels.\n\nimport Foundation\nimport \(imported)\n\n"
            let classes = models.map { ClassWriter($0, importing: imported).text() }.joined(separator: "\n")
            let managed = accessors.text.isEmpty ? "" : "\n#if !canImport(Darwin)\n\n\(accessors.text)#endif\n"
            try Data((heading + classes + managed).utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
            return 0
        } catch let error as CodeError {
            report(error.description.replacing(": ", with: ": error: ", maxReplacements: 1))
        } catch {
            report("error: \(error.localizedDescription)")
        }
        return 1
    }

    private static func isModel(_ path: String) -> Bool { path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".xcdatamodel") }

    private static func report(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }
}
