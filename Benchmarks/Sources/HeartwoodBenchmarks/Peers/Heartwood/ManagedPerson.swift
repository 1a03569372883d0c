import Foundation
@_spi(GeneratedCode) import Heartwood

/// Has accessors by property index, as a generated class does; the order is that of `HeartwoodPeer.model`.
final class ManagedPerson: NSManagedObject {
    var name: String {
        get { managedString(at: 0) ?? "" }
        set { setManagedString(newValue, at: 0) }
    }

    var email: String {
        get { managedString(at: 1) ?? "" }
        set { setManagedString(newValue, at: 1) }
    }

    var age: Int {
        get { Int(managedInteger(at: 2) ?? 0) }
        set { setManagedInteger(Int64(newValue), at: 2) }
    }

    var score: Double {
        get { managedDouble(at: 3) ?? 0 }
        set { setManagedDouble(newValue, at: 3) }
    }

    var birthday: Double {
        get { managedDouble(at: 4) ?? 0 }
        set { setManagedDouble(newValue, at: 4) }
    }

    var note: String {
        get { managedString(at: 5) ?? "" }
        set { setManagedString(newValue, at: 5) }
    }

    var group: ManagedGroup? {
        get { managedObject(at: 6) as? ManagedGroup }
        set { setManagedObject(newValue, at: 6) }
    }
}

final class ManagedGroup: NSManagedObject {
    var title: String {
        get { managedString(at: 0) ?? "" }
        set { setManagedString(newValue, at: 0) }
    }

    var people: [NSManagedObject] { managedObjects(at: 1) }
}
