import Foundation

/// The mode in which a use of a context or an object from the wrong queue ends the process.
///
/// It is on where the process was started with `-com.apple.CoreData.ConcurrencyDebug 1`, as on Apple's platforms, or with
/// `HEARTWOOD_CONCURRENCY_DEBUG=1` in its environment. Contexts ask once, when they are made, and mark their objects (`.watched`):
/// reading an unmarked object costs next to nothing more, since the flag that makes a read look is tested with one that is tested
/// anyway.
enum ConcurrencyDebug {
    static let argument = "-com.apple.CoreData.ConcurrencyDebug"
    static let variable = "HEARTWOOD_CONCURRENCY_DEBUG"

    static let isOn = isAsked(arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)

    static func isAsked(arguments: [String], environment: [String: String]) -> Bool {
        if let index = arguments.lastIndex(of: argument) {
            return index + 1 < arguments.count && NSString(string: arguments[index + 1]).boolValue
        }
        return environment[variable].map { NSString(string: $0).boolValue } ?? false
    }
}

extension NSManagedObjectContext {
    /// Traps, where the debug mode is on, unless the caller is where the context may be used.
    @inline(__always)
    final func checkQueue(_ use: StaticString = #function) {
        if isWatched { trapUnlessConfined(use) }
    }

    @inline(never)
    final func trapUnlessConfined(_ use: StaticString) {
        guard !isConfinedHere else { return }
        // Not a precondition, whose message a release build does not print.
        fatalError(
            "\(ConcurrencyDebug.argument): \(use) was used on the wrong \(queue == nil ? "thread" : "queue"), for "
                + "\(confinementDescription). Another context's objects are reached by object(with:) and their objectID.")
    }

    private var isConfinedHere: Bool {
        queue.map(\.isCurrent) ?? (confiningThread === Thread.current)
    }

    private var confinementDescription: String {
        let title = "the context \(name.map { "\"\($0)\" " } ?? "")(\(Unmanaged.passUnretained(self).toOpaque()))"
        switch concurrencyType {
        case .mainQueueConcurrencyType:
            return "\(title) of the main queue. Use it and its objects on the main actor, or inside its perform or performAndWait"
        case .privateQueueConcurrencyType:
            return "\(title) of a private queue. Use it and its objects inside its perform or performAndWait"
        case .confinementConcurrencyType:
            return "\(title), which is confined to the thread that made it. Make it with .privateQueueConcurrencyType, and use it and "
                + "its objects inside perform or performAndWait"
        }
    }
}

extension NSManagedObject {
    /// As the context's; objects without a context belong to whoever holds them.
    /// - Parameter property: its index, where one property is read.
    @inline(__always)
    final func checkQueue(_ use: StaticString = #function, _ property: Int? = nil) {
        if state.contains(.watched) { trapUnlessConfined(use, property) }
    }

    @inline(never)
    private func trapUnlessConfined(_ use: StaticString, _ property: Int?) {
        // Objects made to find out what is read of them are marked in the same way.
        if let property, let recorder = managedObjectContext as? KeyPathRecorder { return recorder.note(property, of: self) }
        managedObjectContext?.trapUnlessConfined(use)
    }
}
