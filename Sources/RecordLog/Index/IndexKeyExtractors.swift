/// Finds the function that makes an index's keys.
enum IndexKeyExtractors {
    /// An index entry fits a block with room to spare, and a root lists many.
    static func keySizeMax(_ file: LogFile) -> Int { Int(file.segmentSize / 8) }

    static func tooLong(_ key: KeyBuilder, sizeMax: Int, path: String) -> StoreError {
        StoreError(
            .tooLarge, path: path, "an index key of \(key.count) bytes is longer than \(sizeMax)",
            remedy: "Do not index columns with such long values.")
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
