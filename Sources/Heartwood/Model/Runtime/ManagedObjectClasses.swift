import Foundation
import Synchronization

/// Finds the Swift class of an entity by its `managedObjectClassName`.
///
/// Off Apple's platforms a class is found at run time only by its module and name together ("App.Person"), while
/// models made in Xcode state the name alone. So the modules that make requests are remembered, and each is tried.
enum ManagedObjectClasses {
    private struct Registry {
        var modules: [String] = []
        var classes: [String: AnyClass] = [:]
    }

    private static let registry = Mutex(Registry())
    /// Where the literal lies that was noted last: a file makes its requests one after the other.
    private static let newest = Atomic<UInt>(0)

    /// In the order in which they are tried.
    static var modules: [String] { registry.withLock { $0.modules } }

    /// The module that the executable's name suggests: asked for last, since the bundle takes its time when it is first looked at.
    private static let mainModule: String? = {
        guard let name = Bundle.main.executableURL?.deletingPathExtension().lastPathComponent else { return nil }
        return String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }()

    /// Remembers the module of a `#fileID` ("Module/File.swift").
    static func note(fileID: StaticString) {
        guard fileID.hasPointerRepresentation else { return }
        let place = UInt(bitPattern: fileID.utf8Start)
        guard newest.load(ordering: .relaxed) != place else { return }
        let text = UnsafeBufferPointer(start: fileID.utf8Start, count: fileID.utf8CodeUnitCount)
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else { return }
        let module = String(decoding: text[..<slash], as: UTF8.self)
        registry.withLock { registry in
            if !registry.modules.contains(module) { registry.modules.insert(module, at: 0) }
        }
        newest.store(place, ordering: .relaxed)
    }

    /// Remembers the module of a class that is not this library's.
    static func note(moduleOf type: AnyClass) {
        guard let module = _typeName(type, qualified: true).split(separator: ".").first.map(String.init), module != "Heartwood" else { return }
        registry.withLock { registry in
            if !registry.modules.contains(module) { registry.modules.append(module) }
        }
    }

    /// Remembers a class that code has named itself.
    static func note(_ type: AnyClass) {
        let full = fullName(of: type)
        registry.withLock { registry in
            guard registry.classes[full] == nil else { return }
            registry.classes[full] = type
            registry.classes[shortName(full)] = type
        }
    }

    /// As `String(reflecting:)` has it, without the many casts that it tries first.
    static func fullName(of type: AnyClass) -> String { _typeName(type, qualified: true) }

    static func shortName(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    /// A class by its name, with its module or as one of the first module that has such a class.
    static func find<Class: AnyObject>(_ name: String, as type: Class.Type) -> Class.Type? {
        if let found = named(name) as? Class.Type { return found }
        let short = shortName(name)
        return modules.lazy.compactMap { named("\($0).\(short)") as? Class.Type }.first
            ?? mainModule.flatMap { named("\($0).\(short)") as? Class.Type }
    }

    /// As `NSClassFromString(_:)` has it, which off Apple's platforms makes tables of all of Foundation's classes when it is called first.
    private static func named(_ name: String) -> Any.Type? {
        #if canImport(ObjectiveC)
            NSClassFromString(name)
        #else
            name.contains(".") ? _typeByName(name) : nil
        #endif
    }

    /// A class that was noted, by its full name or its short one.
    static func noted(_ name: String) -> AnyClass? { registry.withLock { $0.classes[name] } }

    /// A class by its name with its module.
    static func stated<Class: AnyObject>(_ name: String, as type: Class.Type) -> Class.Type? { named(name) as? Class.Type }
}
