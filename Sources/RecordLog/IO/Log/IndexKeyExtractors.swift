/// Finds the extractor of an index.
enum IndexKeyExtractors {
    /// The limit makes an entry fit a block easily, and lets a root list many blocks.
    static func keySizeMax(_ file: LogFile) -> Int { Int(file.segmentSize / 8) }

    /// - Parameter file: gives its path only for the error: a string for each key would count references.
    @inline(__always)
    static func check(_ key: KeyBuilder, sizeMax: Int, in file: LogFile) throws(StoreError) {
        guard key.count <= sizeMax else {
            throw StoreError(
                .tooLarge, path: file.path, "an index key of \(key.count) bytes is longer than \(sizeMax)",
                remedy: "Do not index columns with such long values.")
        }
    }

    static func extractor(
        of index: IndexDefinition, _ options: StoreOptions, path: String
    ) throws(StoreError) -> any IndexKeyExtractor {
        guard let name = index.extractorName else { return ColumnKeyExtractor(index.parts) }
        guard let found = options.extractor(named: name) else {
            throw StoreError(
                .schema, path: path, "the index \(index.name) needs the extractor \"\(name)\", which was not registered",
                remedy: "Give it in StoreOptions.extractors or makeExtractor when opening the store for writing.")
        }
        return found
    }
}
