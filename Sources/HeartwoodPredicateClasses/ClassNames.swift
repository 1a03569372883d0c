import Foundation
import Synchronization

#if !canImport(ObjectiveC)
    /// Returns the name by which `NSClassFromString(_:)` and an entity's `managedObjectClassName` find the class.
    ///
    /// Foundation's function of this name ends the program for a class that is in another type, in a function or private to a file. This one
    /// takes each class. The name of a class that is private or in a function works in this process only, once this was called.
    /// Source: https://developer.apple.com/documentation/foundation/nsstringfromclass(_:)
    public func NSStringFromClass(_ aClass: AnyClass) -> String {
        let name = String(reflecting: aClass)
        // Foundation has names of its own for some of its classes.
        if ClassNames.isAtTopLevel(name) { return Foundation.NSStringFromClass(aClass) }
        return ClassNames.type(name) == aClass ? name : ClassNames.remember(aClass, name)
    }

    /// Finds a class by the name that `NSStringFromClass(_:)` gives; nil for none.
    /// Source: https://developer.apple.com/documentation/foundation/nsclassfromstring(_:)
    public func NSClassFromString(_ aClassName: String) -> AnyClass? {
        if let found = ClassNames.type(aClassName) { return found as? AnyClass }
        return aClassName.utf8.contains(UInt8(ascii: ".")) ? nil : Foundation.NSClassFromString(aClassName)
    }
#endif

/// Names of classes, with their modules and the types that they are in.
package enum ClassNames {
    /// Classes that the runtime does not find by a name.
    private static let remembered = Mutex<[String: AnyClass]>([:])
    private static let point = UInt8(ascii: ".")

    static func isAtTopLevel(_ name: String) -> Bool { name.utf8.count { $0 == point } < 2 }

    /// - Parameter name: as `String(reflecting:)` gives it.
    /// - Returns: the name without contexts that have none, whose addresses differ from run to run, and with a number behind it if another class
    ///   has this name.
    static func remember(_ aClass: AnyClass, _ name: String) -> String {
        let parts = name.split(separator: ".").filter { !$0.hasPrefix("(") }
        let plain = parts.joined(separator: ".")
        return remembered.withLock { list in
            var found = plain, number = 2
            while let other = list[found] ?? (type(of: found) as? AnyClass), other != aClass {
                found = "\(plain) \(number)"
                number += 1
            }
            list[found] = aClass
            return found
        }
    }

    /// Finds a class by its name.
    package static func type(_ name: String) -> Any.Type? { type(of: name) ?? remembered.withLock { $0[name] } }

    private static func type(of name: String) -> Any.Type? {
        guard name.utf8.contains(point) else { return nil }
        if let found = _typeByName(name) { return found }
        // The runtime takes the dotted form of a class at the top level only. The linker's form states the kind of each enclosing type.
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard (3...depthMax).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0 < 0x80 && $0 > 0x2F } })
        else { return nil }
        let path = parts.map { "\($0.utf8.count)\($0)" }
        var enclosing = [path[0]]
        for part in path[1..<(path.count - 1)] { enclosing = enclosing.flatMap { outer in ["O", "C", "V"].map { outer + part + $0 } } }
        for outer in enclosing {
            if let found = _typeByName(outer + path[path.count - 1] + "C") { return found }
        }
        return nil
    }

    /// The module, the enclosing types and the class. Each enclosing type triples the look-ups.
    private static let depthMax = 5
}
