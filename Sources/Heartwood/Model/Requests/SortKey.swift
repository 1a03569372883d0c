import Foundation

/// Finds out a sort descriptor's key or key path, by comparing itself with itself.
final class SortProbe: NSObject {
    var key: String?
    var keyPath: AnyKeyPath?
    var textOrder = NSSortDescriptor.TextOrder.literal
    /// Whether a function of the program compares the values.
    var hasComparator = false

    /// Finds nothing in a descriptor that this module did not make.
    init(_ descriptor: NSSortDescriptor) {
        super.init()
        // Other descriptors start at the type that they sort, and their comparators do not accept a probe.
        let begin: AnyKeyPath? = descriptor.keyPath
        if begin == Self.whole.keyPath { _ = descriptor.comparator(self, self) }
    }

    private struct Whole: @unchecked Sendable {
        // Unchecked: key paths are immutable.
        let keyPath: AnyKeyPath = \NSObject.self
    }

    private static let whole = Whole()
}

extension NSSortDescriptor {
    /// Sorts by the values of a key path: null first, numbers by value, text by its UTF-8 bytes.
    ///
    /// If a key is empty, or there are more than 64, a fetch throws, and an array keeps its order.
    public convenience init(key: String?, ascending: Bool) { self.init(key: key, ascending: ascending, textOrder: .literal) }

    /// Sorts text in another order: `NSSortDescriptor(key: "name", ascending: true, textOrder: .localizedStandard)`.
    ///
    /// With another order than `.literal` a fetch throws if the key path does not lead to a String.
    public convenience init(key: String?, ascending: Bool, textOrder: TextOrder) {
        let path = key ?? "self"
        // Parsed once, since a sort compares many times.
        let keys = path.utf8.contains(UInt8(ascii: ".")) || path.isEmpty ? Result { try PredicateKeyPath.keys(path) } : .success([path])
        self.init(keyPath: \NSObject.self, ascending: ascending) { a, b in
            if let probe = a as? SortProbe {
                (probe.key, probe.textOrder) = (path, textOrder)
                return .orderedSame
            }
            switch keys {
            case .success(let keys): return SortKey.compare(a, b, path: keys, textOrder)
            // The key may be a person's.
            case .failure: return .orderedSame
            }
        }
    }
}

/// A fetch's sort descriptor, checked against the entity.
package struct SortKey {
    package let path: [String]
    package let isAscending: Bool
    package let textOrder: NSSortDescriptor.TextOrder

    /// - Parameter path: a path that is known to lead to an attribute or a to-one relationship.
    init(path: [String]) {
        self.path = path
        isAscending = true
        textOrder = .literal
    }

    /// - Throws: if the descriptor was made from a comparator, or names a property that the entity does not have.
    init(_ descriptor: NSSortDescriptor, entity: NSEntityDescription) throws { try self.init(descriptor, SortProbe(descriptor), entity: entity) }

    /// - Parameter probe: the descriptor's.
    init(_ descriptor: NSSortDescriptor, _ probe: SortProbe, entity: NSEntityDescription) throws {
        if let keyPath = probe.keyPath {
            do {
                path = try KeyPathReading.of(keyPath, entity: entity).keys
            } catch {
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError, "\(entity.name ?? "?") cannot be sorted: \(error)")
            }
            guard !path.isEmpty else {
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError, "\(entity.name ?? "?") cannot be sorted by the IDs of its objects.")
            }
        } else if let key = probe.key {
            do throws(PredicateFault) {
                path = key.utf8.contains(UInt8(ascii: ".")) ? entity.joiningComposites(try PredicateKeyPath.keys(key)) : [key]
            } catch {
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError, "\(entity.name ?? "?") cannot be sorted by \"\(key.prefix(200))\": \(error).")
            }
        } else {
            throw CoreDataError.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "A fetch is sorted by keys; make the sort descriptor with NSSortDescriptor(key:ascending:), or (keyPath:ascending:) in a "
                    + "file that imports this module.")
        }
        guard !probe.hasComparator else {
            throw CoreDataError.unsupported(
                "\(entity.name ?? "?") cannot be sorted by a comparator, since a store sorts rows, not objects: leave it out, and sort the fetched "
                    + "objects.")
        }
        isAscending = descriptor.ascending
        textOrder = probe.textOrder
        var owner: NSEntityDescription? = entity
        for (index, name) in path.enumerated() {
            let property = owner?.keptProperty(name)
            let isLast = index == path.count - 1
            switch property {
            case is NSCompositeAttributeDescription where isLast:
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "\(entity.name ?? "?") cannot be sorted by \"\(path.joined(separator: "."))\", which is composite: sort by its elements.")
            case is NSAttributeDescription where isLast: owner = nil
            case let relationship as NSRelationshipDescription where !relationship.isToMany: owner = relationship.destinationEntity
            default:
                throw CoreDataError.make(
                    NSPersistentStoreUnsupportedRequestTypeError,
                    "\(entity.name ?? "?") cannot be sorted by \"\(path.joined(separator: "."))\": \(name) is "
                        + (property == nil ? owner.map { "no property of \($0.name ?? "?")\($0.listedProperties(besides: name))." } ?? "no property of an attribute." : "not an attribute or a to-one relationship."))
            }
            guard !isLast || textOrder == .literal || (property as? NSAttributeDescription)?.attributeType == .stringAttributeType else {
                throw CoreDataError.unsupported(
                    "\(entity.name ?? "?") cannot be sorted by \"\(path.joined(separator: "."))\" with a textOrder: \(name) is no String.")
            }
        }
    }

    func compare(_ a: Any, _ b: Any) -> ComparisonResult {
        let order = Self.compare(a, b, path: path, textOrder)
        guard !isAscending else { return order }
        return order == .orderedAscending ? .orderedDescending : order == .orderedDescending ? .orderedAscending : .orderedSame
    }

    static func compare(_ a: Any, _ b: Any, path: [String], _ textOrder: NSSortDescriptor.TextOrder) -> ComparisonResult {
        let keys = path == ["self"] ? [] : path
        return compare(PredicateKeyPath.value(keys[...], of: a), PredicateKeyPath.value(keys[...], of: b), textOrder)
    }

    static func compare(_ x: PredicateValue, _ y: PredicateValue, _ textOrder: NSSortDescriptor.TextOrder) -> ComparisonResult {
        switch (x.isNull, y.isNull) {
        case (true, true): return .orderedSame
        case (true, false): return .orderedAscending
        case (false, true): return .orderedDescending
        case (false, false):
            if textOrder != .literal, case .text(let a) = x, case .text(let b) = y { return textOrder.compare(a, b) }
            if case .object(let p) = x, case .object(let q) = y {
                return p.key.rawValue < q.key.rawValue ? .orderedAscending : p.key == q.key ? .orderedSame : .orderedDescending
            }
            // NaN comes first, as in the keys of an index.
            switch (x.isNotANumber, y.isNotANumber) {
            case (true, true): return .orderedSame
            case (true, false): return .orderedAscending
            case (false, true): return .orderedDescending
            case (false, false): return x.ordered(y) ?? .orderedSame
            }
        }
    }
}
