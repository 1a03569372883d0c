import Foundation
import Heartwood

// The form that Xcode writes with Codegen set to Manual/None, without @objc.
public class Plant: NSManagedObject {
    var shout: String { (primitiveName ?? "").uppercased() }
}

extension Plant {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Plant> {
        return NSFetchRequest<Plant>(entityName: "Plant")
    }

    @NSManaged public var name: String?
    @NSManaged public var height: Double
    @NSManaged public var count: Int64
    @NSManaged var identifier: UUID?
    @NSManaged public var plantedOn: Date?
    @NSManaged public var price: NSDecimalNumber?
    @NSManaged public var notes: [String]?
    @NSManaged public var garden: Garden?
    @NSManaged public var neighbours: Set<Plant>
    @NSManaged private var primitiveName: String?
}

// MARK: Generated accessors for neighbours
extension Plant {
    @NSManaged public func addToNeighbours(_ value: Plant)

    @NSManaged public func removeFromNeighbours(_ values: NSSet)
}

final class Tree: Plant {
    @NSManaged var rings: Int32
}
