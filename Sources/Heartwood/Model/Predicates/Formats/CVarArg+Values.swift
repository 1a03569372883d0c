import Foundation

#if !canImport(ObjectiveC)
    // Predicate arguments that are no C arguments off Apple's platforms; there the Objective-C runtime provides this. The parser takes them
    // as values. Only C's own variadic functions would read the encoding, which is a pointer to the object. A String format prints their
    // descriptions.

    extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
        public var _cVarArgObject: any CVarArg { ArgumentText(of: self, description) }
        public var _cVarArgEncoding: [Int] { (self as NSDate)._cVarArgEncoding }
    }

    extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
        public var _cVarArgObject: any CVarArg { ArgumentText(of: self, description) }
        public var _cVarArgEncoding: [Int] { (self as NSUUID)._cVarArgEncoding }
    }

    extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
        public var _cVarArgObject: any CVarArg { ArgumentText(of: self, description) }
        public var _cVarArgEncoding: [Int] { NSArray(array: self)._cVarArgEncoding }
    }

    extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
        public var _cVarArgObject: any CVarArg { ArgumentText(of: self, description) }
        public var _cVarArgEncoding: [Int] { NSSet(set: self)._cVarArgEncoding }
    }

    extension NSObject: @retroactive CVarArg {
        public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
    }
#endif
