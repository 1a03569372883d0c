/// A keyed hash with SHA-256. Source: RFC 2104.
package enum HMAC {
    package static func sha256(_ message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
        var key = key.count > SHA256.blockBytes ? SHA256.hash(key) : key
        key += [UInt8](repeating: 0, count: SHA256.blockBytes - key.count)
        var inner = SHA256()
        inner.update(key.map { $0 ^ 0x36 })
        inner.update(message)
        return SHA256.hash(key.map { $0 ^ 0x5c } + inner.finished())
    }
}
