import Foundation

/// The entities of fetch requests for transactions and changes. They belong to a model of their own, which no store holds.
enum HistoryEntities {
    static var transaction: NSEntityDescription { made.transaction }
    static var change: NSEntityDescription { made.change }

    private struct Made: Sendable {
        let model: NSManagedObjectModel
        let transaction, change: NSEntityDescription
    }

    private static let made: Made = {
        let transaction = NSEntityDescription(), change = NSEntityDescription()
        transaction.name = "Transaction"
        change.name = "Change"
        let changes = NSRelationshipDescription(), owner = NSRelationshipDescription()
        changes.name = "changes"
        changes.destinationEntity = change
        changes.maxCount = 0
        changes.inverseRelationship = owner
        owner.name = "transaction"
        owner.destinationEntity = transaction
        owner.maxCount = 1
        owner.inverseRelationship = changes
        transaction.properties = [
            attribute("author", .stringAttributeType), attribute("contextName", .stringAttributeType),
            attribute("bundleID", .stringAttributeType), attribute("processID", .stringAttributeType),
            attribute("storeID", .stringAttributeType), attribute("timestamp", .dateAttributeType),
            attribute("transactionNumber", .integer64AttributeType), attribute("token", .transformableAttributeType), changes,
        ]
        change.properties = [
            attribute("changeID", .integer64AttributeType), attribute("changeType", .integer16AttributeType),
            attribute("changedObjectID", .objectIDAttributeType), attribute("changedEntity", .stringAttributeType), owner,
        ]
        let model = NSManagedObjectModel()
        model.entities = [transaction, change]
        model.makeImmutable()
        return Made(model: model, transaction: transaction, change: change)
    }()

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    /// A request for all transactions or all changes.
    static func request(_ entity: NSEntityDescription) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(name: entity.name, objectClass: nil)
        request.entity = entity
        return request
    }
}
