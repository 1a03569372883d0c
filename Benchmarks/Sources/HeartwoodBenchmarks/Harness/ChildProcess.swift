import Foundation

/// Measures in a fresh process, mainly the time of opening a store there.
enum ChildProcess {
    static let command = "--measure-open"

    static func open(_ peer: any Peer.Type, path: String, rows: Int) throws -> (seconds: Double, bytes: Double) {
        let parts = try numbers(from: [command, peer.name, path, "\(rows)"])
        guard parts.count == 2 else { throw PeerError(description: "\(peer.name): the opening process failed") }
        return (parts[0], parts[1])
    }

    /// A process that will run this program again.
    static func process(with arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
        process.arguments = arguments
        return process
    }

    /// Runs this program again and returns the numbers that it prints.
    static func numbers(from arguments: [String], environment: [String: String] = [:]) throws -> [Double] {
        let process = self.process(with: arguments)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }

    /// The child's side.
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 3, let type = (Runner.stackPeers + Runner.enginePeers + [ContainerPeer.self, InPlacePeer.self, CoreDataSQLitePeer.self]).first(where: { $0.name == arguments[0] }), let rows = Int(arguments[2]) else {
            throw PeerError(description: "wrong arguments for \(command)")
        }
        let peer = try type.init(path: arguments[1], generator: PersonGenerator(count: rows))
        let before = ProcessFigures.privateMemory
        let (name, seconds) = try Clock.seconds {
            try peer.open()
            return try peer.firstName()
        }
        let after = ProcessFigures.privateMemory
        guard !name.isEmpty else { throw PeerError(description: "the first object has no name") }
        print(seconds, after > before ? after - before : 0)
    }
}
