import Foundation
import RecordLog
import Testing

@testable import Heartwood

extension TestStack {
    /// A stack whose store tracks its history.
    static func tracking(
        _ kind: StoreKind = .inMemory, model: NSManagedObjectModel = TestStack.model(), at url: URL? = nil, options: [String: Any] = [:]
    ) throws -> TestStack {
        try TestStack(kind, model: model, at: url, options: options.merging([NSPersistentHistoryTrackingKey: true]) { first, _ in first })
    }

    var token: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: nil) }

    func ask(_ request: NSPersistentHistoryChangeRequest, _ type: NSPersistentHistoryResultType? = nil) throws -> Any? {
        if let type { request.resultType = type }
        let result = try #require(context.execute(request) as? NSPersistentHistoryResult)
        #expect(result.resultType == request.resultType)
        return result.result
    }

    /// The transactions after a token, with their changes.
    func transactions(after token: NSPersistentHistoryToken? = nil) throws -> [NSPersistentHistoryTransaction] {
        try #require(try ask(.fetchHistory(after: token)) as? [NSPersistentHistoryTransaction])
    }

    /// The changes after a token, each as text.
    func changes(after token: NSPersistentHistoryToken? = nil) throws -> [String] {
        try transactions(after: token).flatMap { $0.changes ?? [] }.map(\.words)
    }
}

extension NSPersistentHistoryChange {
    /// "update Person 3: age, name"
    var words: String {
        let id = changedObjectID
        let properties = (updatedProperties ?? []).map(\.name).sorted().joined(separator: ", ")
        return "\(changeType) \(id.entity.name ?? "?") \(id.key.row)" + (changeType == .update ? ": \(properties)" : "")
    }
}
