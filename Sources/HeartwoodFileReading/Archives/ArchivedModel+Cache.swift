extension ArchivedModel {
    /// The most bytes of the archive in a model cache. The largest cache that was seen has 294,055.
    package static let cacheSizeMax = 64 << 20

    /// The keyed archive in a model cache, `Z_MODELCACHE.Z_CONTENT` of a store. Core Data deflates it, without zlib's header.
    package static func archive(inCache bytes: [UInt8]) throws(InflateFault) -> [UInt8] {
        try Inflater.inflate(bytes, sizeMax: cacheSizeMax).bytes
    }
}
