import Foundation

/// The changes that one save made to a store.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historytransaction
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable

    var timestamp: Date { get }
    var changes: [HistoryChange] { get }
    /// The position in the history just after the transaction.
    var token: TokenType { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var storeIdentifier: String { get }
    /// The author of the context that saved; nil if it has none.
    var author: String? { get }
}

/// A position in a history. Keep it where a program must go on after it was ended.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historytoken
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
    associatedtype TokenType: Codable, Hashable, Sendable

    var tokenValue: TokenType? { get }
}

/// A store that has a history.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historyproviding
public protocol HistoryProviding {
    associatedtype HistoryType: HistoryTransaction

    static var historyType: HistoryType.Type { get }
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
    public static var historyType: HistoryType.Type { HistoryType.self }
}

/// Which transactions a fetch of a history finds, and in which order.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historydescriptor
public struct HistoryDescriptor<TransactionType: HistoryTransaction>: @unchecked Sendable {
    // Unchecked: predicates and orders are immutable.

    public var predicate: Predicate<TransactionType>?
    /// Without an order, transactions come as they were made.
    public var sortBy: [SortDescriptor<TransactionType>]
    /// The number of transactions at most; 0 for all.
    public var fetchLimit: UInt64 = 0

    public init(predicate: Predicate<TransactionType>? = nil) {
        self.predicate = predicate
        sortBy = []
    }

    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}
