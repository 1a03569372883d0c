import Foundation
import Heartwood

/// As Xcode leaves it to be written with Codegen set to Manual/None; the build plugin makes its accessors.
public class ManualCounter: NSManagedObject {
    @NSManaged public var count: Int64
    @NSManaged public var name: String?
}

/// What the accessors are measured against.
public class PlainCounter {
    public var count: Int64

    init(count: Int64) {
        self.count = count
    }
}
