// Values by key path, as SwiftData's own accessors and code written by hand read and write them. They tell no observer.

extension PersistentModel {
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Self, Value>) -> Value { persistentBackingData.getValue(forKey: keyPath) }
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: keyPath)
    }
    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>) -> Value? {
        persistentBackingData.getValue(forKey: keyPath)
    }
    public func getValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Self, Value>) -> Value
    where OtherModel == Value.PersistentElement { persistentBackingData.getValue(forKey: keyPath) }
    public func getValue<Value: Decodable & RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Self, Value>) -> Value
    where OtherModel == Value.PersistentElement { persistentBackingData.getValue(forKey: keyPath) }
    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getTransformableValue(forKey: keyPath)
    }

    @_disfavoredOverload
    public func setValue<Value: Encodable>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }
    public func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Self, Value?>, to newValue: Value?) {
        persistentBackingData.setValue(forKey: keyPath, to: newValue)
    }
    public func setValue<Value: RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement { persistentBackingData.setValue(forKey: keyPath, to: newValue) }
    public func setValue<Value: Encodable & RelationshipCollection, OtherModel>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value)
    where OtherModel == Value.PersistentElement { persistentBackingData.setValue(forKey: keyPath, to: newValue) }
    public func setTransformableValue<Value>(forKey keyPath: KeyPath<Self, Value>, to newValue: Value) {
        persistentBackingData.setTransformableValue(forKey: keyPath, to: newValue)
    }
}
