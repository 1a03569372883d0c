import Foundation

/// A result of a fetch request: a managed object, an object ID, a dictionary, or a count as a number.
///
/// On Apple's platforms this is an Objective-C protocol whose existential conforms to itself. Swift's existentials do
/// not, so here `NSFetchRequest`'s parameter is unconstrained, and code can still write `NSFetchRequest<NSFetchRequestResult>`.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
