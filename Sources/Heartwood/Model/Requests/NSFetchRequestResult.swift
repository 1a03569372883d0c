import Foundation

/// What a fetch request can give: managed objects, their IDs, dictionaries, and counts as numbers.
///
/// On Apple's platforms this is an Objective-C protocol whose existential conforms to itself. Swift's existentials do
/// not, so `NSFetchRequest`'s parameter is unconstrained here and `NSFetchRequest<NSFetchRequestResult>` stays writable.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
