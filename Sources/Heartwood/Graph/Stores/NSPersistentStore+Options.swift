import Foundation
import RecordLog

extension NSPersistentStore {
    /// The default time that a store waits for another process, in seconds: Core Data's.
    package static let defaultTimeout = 240.0

    /// The options for every store in a file.
    final var commonOptions: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.acceptsDamage = flag(NSRecordLogAcceptsDamageOption) ?? false
        if let bounded = Duration(bounding: number(NSPersistentStoreTimeoutOption) ?? Self.defaultTimeout) { options.lockTimeout = bounded }
        let durability = self.options?[NSRecordLogDurabilityOption]
        switch durability as? RecordLogDurability ?? (durability as? String).flatMap(RecordLogDurability.init) {
        case .relaxed?: options.durability = .relaxed
        case .none?: options.durability = .none
        case .full?, nil: options.durability = .full
        }
        options.asksOutside = OutsideQuestion.answer
        return options
    }

    /// The value of an option that is on or off; nil if it is not set.
    package static func flag(_ option: String, in options: [AnyHashable: Any]?) -> Bool? {
        options?[option].flatMap(boolean)
    }

    /// The order of the casts keeps the runtime from looking for conformances of `Bool` and `NSNumber`, which takes longer than to open a file.
    private static func boolean(_ value: Any) -> Bool? {
        Swift.type(of: value) == Bool.self ? value as? Bool : (value as? NSNumber)?.boolValue
    }

    final func flag(_ option: String) -> Bool? { Self.flag(option, in: options) }

    final func number(_ option: String) -> Double? {
        let value = options?[option]
        return (value as? NSNumber)?.doubleValue ?? value as? Double ?? (value as? Int).map(Double.init)
    }

    /// The path of a store in a file.
    /// - Throws: 134080 if the URL is not a file's, or if its path differs from the file system's: Foundation replaces bytes that are no UTF-8 with
    ///   U+FFFD, or gives no path at all, so another file would be opened or made.
    package final func filePath() throws -> String {
        guard let url, url.isFileURL else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "A store of the type \(type) needs a file URL; \(self.url.map { "\($0)" } ?? "none") was given.")
        }
        let path = url.path
        guard !path.isEmpty, !path.unicodeScalars.contains(where: { $0 == "\u{FFFD}" || $0 == "\0" }) else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError,
                "The path of \(url.absoluteString) is not UTF-8, or has U+FFFD in place of bytes that are not, so it may name another "
                    + "file. Rename the file or its directory.",
                [NSFilePathErrorKey: path])
        }
        return path
    }
}

extension Duration {
    /// The duration clamped to 0 through 1e9 seconds; nil for NaN.
    init?(bounding seconds: TimeInterval) {
        guard !seconds.isNaN else { return nil }
        self = .seconds(min(max(seconds, 0), 1e9))
    }
}
