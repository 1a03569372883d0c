extension PredicateValue {
    /// The managed object in this value, if it is one.
    var managedObject: NSManagedObject? {
        if case .object(let object) = self { return object as? NSManagedObject }
        return nil
    }
}
