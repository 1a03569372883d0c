import Foundation
import Heartwood

/// The form that Xcode leaves to the programmer with Codegen set to Manual/None; the build plugin makes its accessors.
public class ManualCounter: NSManagedObject {
    @NSManaged public var count: Int64
    @NSManaged public var name: String?
}

/// The baseline for the accessors.
public class PlainCounter {
    public var count: Int64

    init(count: Int64) {
        self.count = count
    }
}
