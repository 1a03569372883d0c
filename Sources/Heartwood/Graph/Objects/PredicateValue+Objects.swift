extension PredicateValue {
    /// The object, where the value is one.
    var managedObject: NSManagedObject? {
        if case .object(let object) = self { return object as? NSManagedObject }
        return nil
    }
}
