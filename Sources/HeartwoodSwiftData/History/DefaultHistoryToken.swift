import Foundation
import Heartwood

/// A position in the histories of a container's stores.
///
/// A token of a transaction has the positions of all stores as far as the fetch has read them, so that one token is enough to go on from.
/// Source: https://developer.apple.com/documentation/swiftdata/defaulthistorytoken
public struct DefaultHistoryToken: HistoryToken, Codable {
    public typealias TokenType = [String: Int64]

    let token: NSPersistentHistoryToken

    init(_ token: NSPersistentHistoryToken) { self.token = token }

    /// The numbers of the newest transactions before the position, by store.
    public var tokenValue: [String: Int64]? { token.positions.mapValues(\.number) }

    /// Equal tokens have one number, in all processes.
    public var id: Int {
        var sum: UInt64 = 14_695_981_039_346_656_037
        for (store, position) in token.positions.sorted(by: { $0.key < $1.key }) {
            for byte in store.utf8 { sum = (sum ^ UInt64(byte)) &* 1_099_511_628_211 }
            sum = (sum ^ UInt64(bitPattern: position.number)) &* 1_099_511_628_211
        }
        return Int(truncatingIfNeeded: sum)
    }

    /// Whether no store is further in `a` than in `b`, and one is less far. Two tokens that are each further in one store have no order.
    public static func < (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
        let x = a.token.positions, y = b.token.positions
        guard x.allSatisfy({ store, position in position.number <= y[store]?.number ?? 0 }) else { return false }
        return y.contains { store, position in position.number > x[store]?.number ?? 0 }
    }

    // The comparisons that Comparable derives hold for total orders only.
    public static func <= (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool { a < b || a == b }
    public static func > (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool { b < a }
    public static func >= (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool { b <= a }

    public static func == (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool { a.token == b.token }
    public func hash(into hasher: inout Hasher) { hasher.combine(token) }

    /// - Throws: `DecodingError` for anything but what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        token = try NSPersistentHistoryToken(from: decoder)
        guard token.positions.allSatisfy({ store, position in !store.isEmpty && position.number >= 0 && position.time.isFinite }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The history token names a position that no history has."))
        }
    }

    public func encode(to encoder: any Encoder) throws { try token.encode(to: encoder) }

    /// The token with the positions that the other has.
    func advanced(by other: NSPersistentHistoryToken) -> DefaultHistoryToken {
        DefaultHistoryToken(NSPersistentHistoryToken(token.positions.merging(other.positions) { $1 }))
    }
}
