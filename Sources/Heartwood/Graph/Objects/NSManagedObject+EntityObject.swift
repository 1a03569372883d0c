extension NSManagedObject: EntityObject {
    package static func reading(of keyPath: AnyKeyPath, entity: NSEntityDescription) throws -> KeyPathReading {
        try KeyPathRecorder.reading(of: keyPath, entity: entity, root: self)
    }

    package static func keys(of keyPath: AnyKeyPath) -> [String]? { KeyPathRecorder.keys(of: keyPath, root: self) }
}
