import Foundation

/// Core Data's errors of a migration, with the keys that it gives them.
enum MigrationError {
    /// 134110, saying what of the store does not suit the new model.
    static func make(_ reason: String, _ entity: NSEntityDescription?, _ property: NSPropertyDescription? = nil) -> NSError {
        let place = [entity?.name, property?.name].compactMap(\.self).joined(separator: ".")
        var info: [String: Any] = ["reason": "Cannot migrate store in-place: \(reason)"]
        info["entity"] = entity?.name
        info["property"] = property?.name
        return CoreDataError.make(
            NSMigrationError,
            "The store cannot be brought to the model's version: \(reason)\(place.isEmpty ? "" : " (\(place))"). It is as it was.", info)
    }
}
