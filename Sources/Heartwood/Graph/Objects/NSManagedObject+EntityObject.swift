extension NSManagedObject: EntityObject {
    package static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading {
        try KeyPathRecorder.reading(of: keyPath, entity: entity, root: self)
    }

    package static func key(of keyPath: AnyKeyPath) -> String? { KeyPathRecorder.key(of: keyPath, root: self) }
}
