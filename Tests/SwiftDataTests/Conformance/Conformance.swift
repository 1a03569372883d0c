import Foundation
import SwiftData
import Testing

// The questions that users of SwiftData ask, with the answers of public sources. Each question is one test: its name is the answer, and a trait says
// where the answer stands. No answer comes from what Heartwood does. The files use nothing but SwiftData's public interface.

/// The public source of a question's answer. A failure shows it.
struct Source: TestTrait {
    let title: String
    let address: String
    var comments: [Comment] { [Comment(rawValue: "Source: \(title), \(address)")] }
}

extension Trait where Self == Source {
    static func source(_ title: String, _ address: String) -> Source { Source(title: title, address: address) }

    /// A page of SwiftData's documentation, by its path: `modelcontext/insert(_:)`. Its articles have such paths too.
    static func reference(_ path: String) -> Source {
        Source(title: "SwiftData, \(path)", address: "https://developer.apple.com/documentation/swiftdata/\(path)")
    }

    static func wwdc(_ year: Int, _ session: Int, _ about: String) -> Source {
        Source(title: "WWDC \(year), session \(session): \(about)", address: "https://developer.apple.com/videos/play/wwdc\(year)/\(session)/")
    }

    /// A thread of Apple's developer forums, with an answer of an engineer of Apple's or with a measurement.
    static func forum(_ thread: Int, _ about: String) -> Source {
        Source(title: "Apple Developer Forums, \(about)", address: "https://developer.apple.com/forums/thread/\(thread)")
    }
}

/// The kinds of store that a question goes to.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    /// A file: a record log here, SQLite on Apple's platforms.
    case database
    case inMemory

    var testDescription: String { rawValue }
}

/// A container with one store of its own, and a context. The store's file goes with the stack.
final class Stack {
    let kind: StoreKind
    let configuration: ModelConfiguration
    let container: ModelContainer
    let context: ModelContext
    private let folder: TemporaryFolder

    convenience init(_ kind: StoreKind, _ types: any PersistentModel.Type...) throws { try self.init(kind, Schema(types)) }

    /// - Parameters:
    ///   - folder: that of another stack, for the same file.
    ///   - configure: makes another configuration of the URL; nil for the kind's own.
    init(
        _ kind: StoreKind, _ schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil, in folder: TemporaryFolder? = nil,
        configure: ((URL) -> ModelConfiguration)? = nil
    ) throws {
        self.kind = kind
        self.folder = try folder ?? TemporaryFolder()
        let url = self.folder.url.appending(path: "models.store")
        configuration = configure?(url)
            ?? (kind == .inMemory ? ModelConfiguration(schema: schema, isStoredInMemoryOnly: true) : ModelConfiguration(schema: schema, url: url))
        container = try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
        context = ModelContext(container)
    }

    /// A context of the container that has seen nothing yet.
    func other() -> ModelContext { ModelContext(container) }

    /// Another container over the same file.
    func reopened(
        _ schema: Schema? = nil, plan: (any SchemaMigrationPlan.Type)? = nil, configure: ((URL) -> ModelConfiguration)? = nil
    ) throws -> Stack {
        try Stack(kind, schema ?? container.schema, plan: plan, in: folder, configure: configure)
    }

    /// Inserts models and saves.
    func save(_ models: any PersistentModel...) throws {
        for model in models { context.insert(model) }
        try context.save()
    }

    /// All models of a class, in another context.
    func stored<Model: PersistentModel>(_ type: Model.Type = Model.self, by order: SortDescriptor<Model>...) throws -> [Model] {
        try other().fetch(FetchDescriptor<Model>(sortBy: order))
    }

    func count<Model: PersistentModel>(_ type: Model.Type) throws -> Int { try other().fetchCount(FetchDescriptor<Model>()) }
}

/// A folder that is deleted with its last user.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "SwiftDataConformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// Collects the notifications of a context while it lives.
final class Heard: @unchecked Sendable {
    // Unchecked: a context posts on the thread that uses it, which is the test's.
    private(set) var all: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ names: Notification.Name..., of context: ModelContext) {
        tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [unowned self] in all.append($0) }
        }
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    func identifiers(_ key: ModelContext.NotificationKey) -> [PersistentIdentifier] {
        all.last?.userInfo?[key.rawValue] as? [PersistentIdentifier] ?? []
    }
}

/// A known difference in Heartwood's answer, with the reason. A question that is answered as it should be fails as "known issue was not recorded".
func knownDifference(_ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    withKnownIssue(what, sourceLocation: sourceLocation) { try body() }
}
