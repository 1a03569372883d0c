import Foundation

/// Key paths as programs and files give them.
extension PredicateKeyPath {
    /// Compiling a key path and asking an object for it go a level deeper at each key: a longer one is refused where it is parsed or made.
    static let lengthMax = 256

    /// - Throws: `PredicateFault` where a key is empty, or there are too many.
    static func keys(_ path: String) throws -> [String] {
        let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !keys.contains("") else { throw PredicateFault(reason: "a key in \"\(path)\" is empty") }
        guard keys.count <= lengthMax else { throw PredicateFault.longPath }
        return keys
    }
}

extension PredicateFault {
    static let longPath = PredicateFault(reason: "a key path has more than \(PredicateKeyPath.lengthMax) keys")
}
