import Foundation
import HeartwoodPredicateClasses
import Synchronization

/// Finds the Swift class of an entity by its `managedObjectClassName`.
///
/// Off Apple's platforms a class is found at run time only by its name with the module ("App.Person"), but models made in Xcode state
/// the bare name. So the modules that make requests are remembered, and each is tried.
enum ManagedObjectClasses {
    private struct Registry {
        var modules: [String] = []
        var classes: [String: AnyClass] = [:]
    }

    private static let registry = Mutex(Registry())
    /// The address of the last noted literal. A file makes its requests one after the other, so this skips most calls.
    private static let newest = Atomic<UInt>(0)

    /// In the order in which they are tried.
    static var modules: [String] { registry.withLock { $0.modules } }

    /// The module that the executable's name suggests. It is tried last, since the first use of the bundle is slow.
    private static let mainModule: String? = {
        guard let name = Bundle.main.executableURL?.deletingPathExtension().lastPathComponent else { return nil }
        return String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }()

    /// Remembers the module of a `#fileID` ("Module/File.swift").
    static func note(fileID: StaticString) {
        guard fileID.hasPointerRepresentation else { return }
        let address = UInt(bitPattern: fileID.utf8Start)
        guard newest.load(ordering: .relaxed) != address else { return }
        guard let module = module(of: fileID) else { return }
        registry.withLock { registry in
            if !registry.modules.contains(module) { registry.modules.insert(module, at: 0) }
        }
        newest.store(address, ordering: .relaxed)
    }

    /// The module of a `#fileID`.
    static func module(of fileID: StaticString) -> String? {
        guard fileID.hasPointerRepresentation else { return nil }
        let text = UnsafeBufferPointer(start: fileID.utf8Start, count: fileID.utf8CodeUnitCount)
        return text.firstIndex(of: UInt8(ascii: "/")).map { String(decoding: text[..<$0], as: UTF8.self) }
    }

    /// Remembers the module of a class, unless it is Heartwood.
    static func note(moduleOf type: AnyClass) {
        guard let module = _typeName(type, qualified: true).split(separator: ".").first.map(String.init), module != "Heartwood" else { return }
        registry.withLock { registry in
            if !registry.modules.contains(module) { registry.modules.append(module) }
        }
    }

    /// Remembers a class that code has used directly.
    static func note(_ type: AnyClass) {
        let full = fullName(of: type)
        registry.withLock { registry in
            guard registry.classes[full] == nil else { return }
            registry.classes[full] = type
            registry.classes[shortName(full)] = type
        }
    }

    /// The result of `String(reflecting:)`, without the casts that it tries first.
    static func fullName(of type: AnyClass) -> String { _typeName(type, qualified: true) }

    static func shortName(_ name: String) -> String {
        name.split(separator: ".").last.map(String.init) ?? name
    }

    /// Finds a class by its name with the module. Otherwise tries the bare name in each known module; the first match wins.
    static func find<Class: AnyObject>(_ name: String, as type: Class.Type) -> Class.Type? {
        if let found = named(name) as? Class.Type { return found }
        let short = shortName(name)
        return modules.lazy.compactMap { named("\($0).\(short)") as? Class.Type }.first
            ?? mainModule.flatMap { named("\($0).\(short)") as? Class.Type }
    }

    /// Does the work of `NSClassFromString(_:)`. Off Apple's platforms the first call of that builds tables of all of Foundation's classes.
    private static func named(_ name: String) -> Any.Type? {
        #if canImport(ObjectiveC)
            NSClassFromString(name)
        #else
            ClassNames.type(name)
        #endif
    }

    /// A remembered class, by its full or its bare name.
    static func noted(_ name: String) -> AnyClass? { registry.withLock { $0.classes[name] } }

    /// A class by its name with the module, or by its name in other types of a known module.
    static func named<Class: AnyObject>(_ name: String, as type: Class.Type) -> Class.Type? {
        if let found = named(name) as? Class.Type { return found }
        return modules.lazy.compactMap { named("\($0).\(name)") as? Class.Type }.first
    }
}
