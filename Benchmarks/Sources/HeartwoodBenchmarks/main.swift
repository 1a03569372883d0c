import Foundation

do {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == ChildProcess.command {
        try ChildProcess.run(Array(words.dropFirst()))
    } else if words.first == QueryRunner.oneCoreCommand {
        try QueryRunner.measureCount(Array(words.dropFirst()))
    } else if words.first == StoreRunner.convertCommand {
        try StoreRunner.measureConversion(Array(words.dropFirst()))
    } else if words.first.map(BackupProcess.commands.contains) == true {
        try BackupProcess.run(words)
    } else if words.first == ModelRunner.command {
        try ModelRunner.measure(Array(words.dropFirst()))
    } else {
        let options = try Options(words)
        let runner = try Runner(options)
        try runner.run()
        let reports = Reports(measurements: runner.measurements, peers: runner.names)
        print(reports.text)
        if let path = options.markdown { try reports.markdown.write(toFile: path, atomically: true, encoding: .utf8) }
        if let path = options.json { try reports.json().write(to: URL(fileURLWithPath: path)) }
        if let path = options.svg { try reports.svg.write(toFile: path, atomically: true, encoding: .utf8) }
        if options.isSmoke { print("\nsmoke run: all peers agree") }
    }
} catch {
    FileHandle.standardError.write(Data("heartwood-benchmarks: \(error)\n".utf8))
    exit(1)
}
