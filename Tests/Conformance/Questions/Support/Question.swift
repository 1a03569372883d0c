import Foundation
import Testing

#if CONFORMANCE_COREDATA
    import CoreData
#else
    import Heartwood
#endif

/// The public source of a question's answer. A failure shows its text.
struct Source: TestTrait {
    let text: String
    var comments: [Comment] { [Comment(rawValue: "Source: \(text)")] }
}

extension Trait where Self == Source {
    static func source(_ text: String) -> Source { Source(text: text) }

    /// A page of the class reference, by its path: `nsmanagedobject/willsave()`.
    static func reference(_ path: String) -> Source { Source(text: "https://developer.apple.com/documentation/coredata/\(path)") }

    /// A comment in a header of the macOS SDK's CoreData.framework.
    static func header(_ name: String, _ about: String) -> Source { Source(text: "CoreData.framework, \(name).h: \(about)") }

    /// A chapter of the Core Data Programming Guide.
    static func guide(_ chapter: String, _ section: String) -> Source {
        Source(text: "Core Data Programming Guide, \(chapter): \(section)")
    }

    /// A chapter of the Core Data Model Versioning and Data Migration Programming Guide.
    static func migrationGuide(_ section: String) -> Source {
        Source(text: "Core Data Model Versioning and Data Migration Programming Guide, \(section)")
    }

    static func wwdc(_ year: Int, _ session: Int, _ about: String) -> Source { Source(text: "WWDC \(year), session \(session): \(about)") }
}

/// The store types, with their counterparts on Apple's platforms.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    /// The default type: a record log here, SQLite there.
    case database
    case inMemory, binary

    var testDescription: String { rawValue }
    /// Whether the content survives removing and adding the store.
    var isFile: Bool { self != .inMemory }
    static let files: [StoreKind] = [.database, .binary]

    var type: String {
        switch self {
        #if CONFORMANCE_COREDATA
            case .database: NSSQLiteStoreType
        #else
            case .database: NSRecordLogStoreType
        #endif
        case .inMemory: NSInMemoryStoreType
        case .binary: NSBinaryStoreType
        }
    }

    /// Options that make a test quick and change no answer.
    static var quickOptions: [String: Any] {
        #if CONFORMANCE_COREDATA
            [:]
        #else
            [NSRecordLogDurabilityOption: "none"]
        #endif
    }
}

/// A known difference in Heartwood's answer. With Apple's Core Data the body counts like any other.
@MainActor func knownDifference(
    _ what: Comment, when differs: Bool = true, sourceLocation: SourceLocation = #_sourceLocation, _ body: @MainActor () throws -> Void
) {
    if !asksThosePlatformsAlone, differs { return withKnownIssue(what, sourceLocation: sourceLocation) { try body() } }
    do { try body() } catch { Issue.record(error, sourceLocation: sourceLocation) }
}

/// Heartwood ends the program here, so only Apple's Core Data is asked.
let asksThosePlatformsAlone: Bool = {
    #if CONFORMANCE_COREDATA
        true
    #else
        false
    #endif
}()

/// The error that a body throws; nil for none.
func failure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch { return error as NSError }
}

/// Runs a body and releases its temporary objects.
@MainActor func drained<R>(_ body: @MainActor () throws -> R) rethrows -> R {
    #if CONFORMANCE_COREDATA
        try autoreleasepool { try body() }
    #else
        try body()
    #endif
}
