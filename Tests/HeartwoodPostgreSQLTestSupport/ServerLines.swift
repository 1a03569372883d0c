import Foundation
import Synchronization

/// What a server writes. A thread reads it as it comes; others wait for a line.
final class ServerLines: Sendable {
    private struct State {
        var text = ""
        var line = ""
        var waits: [Wait] = []
        var isAtEnd = false
    }

    private final class Wait: Sendable {
        let texts: [String]
        let found = Mutex("")
        let isFound = DispatchSemaphore(value: 0)

        init(_ texts: [String]) { self.texts = texts }

        func end(_ line: String) {
            found.withLock { $0 = line }
            isFound.signal()
        }
    }

    private let state = Mutex(State())

    init(_ handle: FileHandle) {
        Thread.detachNewThread { [self] in
            while case let data = handle.availableData, !data.isEmpty { add(String(decoding: data, as: UTF8.self)) }
            end()
        }
    }

    var text: String { state.withLock { $0.text } }

    /// - Returns: a function that waits for the next line with one of the texts, and returns it; empty at the end.
    func wait(for texts: [String]) -> () -> String {
        let wait = Wait(texts)
        let isAtEnd = state.withLock { state in
            state.waits.append(wait)
            return state.isAtEnd
        }
        if isAtEnd { wait.end("") }
        return {
            wait.isFound.wait()
            return wait.found.withLock { $0 }
        }
    }

    private func add(_ text: String) {
        state.withLock { state in
            state.text += text
            state.line += text
            var parts = state.line.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            state.line = parts.removeLast()
            for line in parts { Self.pass(line, &state) }
        }
    }

    private static func pass(_ line: String, _ state: inout State) {
        state.waits.removeAll { wait in
            guard wait.texts.contains(where: line.contains) else { return false }
            wait.end(line)
            return true
        }
    }

    private func end() {
        state.withLock { state in
            state.isAtEnd = true
            for wait in state.waits { wait.end("") }
            state.waits = []
        }
    }
}
