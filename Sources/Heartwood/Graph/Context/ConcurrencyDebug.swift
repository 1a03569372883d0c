import Foundation

/// The mode in which using a context or an object on the wrong queue ends the process.
///
/// The mode is on if the process was started with `-com.apple.CoreData.ConcurrencyDebug 1`, as on Apple's platforms, or with
/// `HEARTWOOD_CONCURRENCY_DEBUG=1` in its environment. A context reads the mode once, when it is made, and marks its objects (`.watched`).
/// Reading an unmarked object costs almost nothing more: its mark is tested together with a flag that every read tests anyway.
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
    /// Traps, if the debug mode is on, unless the caller runs on the context's queue or thread.
    @inline(__always)
    final func checkQueue(_ use: StaticString = #function) {
        if confinement.isWatched { trapUnlessConfined(use) }
    }

    @inline(never)
    final func trapUnlessConfined(_ use: StaticString) {
        guard !isConfinedHere else { return }
        // `precondition` would not print its message in a release build.
        fatalError(
            "\(ConcurrencyDebug.argument): \(use) was used on the wrong \(confinement.queue == nil ? "thread" : "queue"), for "
                + "\(confinementDescription). Another context's objects are reached by object(with:) and their objectID.")
    }

    private var isConfinedHere: Bool {
        confinement.queue.map(\.isCurrent) ?? (confinement.confiningThread === Thread.current)
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
    /// Traps as the context's `checkQueue` does; an object without a context may be used anywhere.
    /// - Parameter property: the index of the property, if one property is read.
    @inline(__always)
    final func checkQueue(_ use: StaticString = #function, _ property: Int? = nil) {
        if state.contains(.watched) { trapUnlessConfined(use, property) }
    }

    @inline(never)
    private func trapUnlessConfined(_ use: StaticString, _ property: Int?) {
        // The objects of a `KeyPathRecorder`, which records the properties that code reads, have the same mark.
        if let property, let recorder = managedObjectContext as? KeyPathRecorder { return recorder.note(property, of: self) }
        managedObjectContext?.trapUnlessConfined(use)
    }
}
