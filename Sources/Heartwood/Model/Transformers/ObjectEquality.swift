import Foundation

/// Decides whether two values of a transformable attribute are the same value for a store. Their archives cannot tell: two archives of one
/// object may have their keys in different orders.
///
/// `isEqual` is too coarse. It treats texts with different bytes, and -0 and 0, as equal; here they differ.
enum ObjectEquality {
    static func areSame(_ a: Any, _ b: Any) -> Bool { areSame(AttributeCoding.bridged(a), AttributeCoding.bridged(b), depth: 0) }

    /// - Parameter depth: objects nested deeper than an archive may be count as different.
    private static func areSame(_ a: AnyObject, _ b: AnyObject, depth: Int) -> Bool {
        guard a !== b else { return true }
        guard depth < ObjectArchive.depthMax else { return false }
        func areSame(_ a: Any, _ b: Any?) -> Bool {
            b.map { self.areSame(AttributeCoding.bridged(a), AttributeCoding.bridged($0), depth: depth + 1) } ?? false
        }
        switch (a, b) {
        case (let a as NSString, let b as NSString): return (a as String).utf8.elementsEqual((b as String).utf8)
        case (let a as NSNumber, let b as NSNumber):
            // A decimal number has no Objective-C type of its own, and no negative zero.
            guard !(a is NSDecimalNumber), !(b is NSDecimalNumber) else { return a.isEqual(b) }
            return strcmp(a.objCType, b.objCType) == 0 && a.int64Value == b.int64Value && a.uint64Value == b.uint64Value
                && a.doubleValue.bitPattern == b.doubleValue.bitPattern
        case (let a as NSArray, let b as NSArray): return a.count == b.count && zip(a, b).allSatisfy { areSame($0, $1) }
        case (let a as NSOrderedSet, let b as NSOrderedSet): return a.count == b.count && zip(a, b).allSatisfy { areSame($0, $1) }
        case (let a as NSSet, let b as NSSet): return a.count == b.count && a.allSatisfy { areSame($0, b.member($0)) }
        case (let a as NSDictionary, let b as NSDictionary):
            let keys = NSSet(array: b.allKeys)
            return a.count == b.count && a.allSatisfy { areSame($0.key, keys.member($0.key)) && areSame($0.value, b.object(forKey: $0.key)) }
        default: return (a as? NSObject)?.isEqual(b) ?? false
        }
    }
}
