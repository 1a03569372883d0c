import Foundation

@testable import Heartwood

extension NSManagedObjectContext {
    func child(_ type: NSManagedObjectContextConcurrencyType = .confinementConcurrencyType) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: type)
        child.parent = self
        return child
    }

    /// This context's instance of another context's object.
    func own(_ object: NSManagedObject) -> NSManagedObject { self.object(with: object.objectID) }
}

extension TestStack {
    /// The names of all persons in a store, read by a context of its own.
    func storedNames() throws -> [String] {
        try withExtendedLifetime(newContext()) { context in
            try fetch("Person", in: context).compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
    }

    func names(in context: NSManagedObjectContext, _ format: String? = nil, _ arguments: Any...) throws -> [String] {
        try fetch("Person", format, arguments, sort: [NSSortDescriptor(key: "name", ascending: true)], in: context)
            .map { $0.value(forKey: "name") as? String ?? "-" }
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String? { value(forKey: key) as? String }
    func one(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
    func many(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
    func list(_ key: String) -> [String?] {
        ((value(forKey: key) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []).map { $0.text("title") }
    }
}
