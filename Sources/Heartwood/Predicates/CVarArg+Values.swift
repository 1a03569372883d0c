import Foundation

// Predicate arguments that are no C arguments off Apple's platforms. The parser takes them as values; the encoding, which
// only C's own variadic functions would read, is a pointer to the object.

extension Date: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { (self as NSDate)._cVarArgEncoding }
}

extension UUID: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { (self as NSUUID)._cVarArgEncoding }
}

extension NSObject: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
