import Foundation

@testable import HeartwoodFileReading

/// Inputs of the inflater and of the reader of archived models. The first byte says which of them gets the rest.
enum FuzzedCache {
    private enum Target: UInt8 { case compressed, archive }

    private static let sizeMax = 1 << 20

    static func run(_ input: [UInt8]) {
        guard let first = input.first, let target = Target(rawValue: first & 1) else { return }
        let bytes = Array(input.dropFirst())
        switch target {
        case .compressed: if let archive = inflate(bytes) { read(archive) }
        case .archive: read(bytes)
        }
    }

    private static func inflate(_ bytes: [UInt8]) -> [UInt8]? {
        do {
            let found = try Inflater.inflate(bytes, sizeMax: sizeMax)
            precondition(found.bytes.count <= sizeMax && found.inputCount <= bytes.count)
            checkBounds(bytes, found)
            return found.bytes
        } catch {
            precondition(error.bit >= 0 && error.bit <= bytes.count * 8)
            return nil
        }
    }

    /// The bytes that were used give the same result, which fits its own size and no smaller one.
    private static func checkBounds(_ bytes: [UInt8], _ found: Inflater.Inflated) {
        let used = Array(bytes.prefix(found.inputCount)), size = found.bytes.count
        precondition((try? Inflater.inflate(used, sizeMax: size)) == found)
        guard size > 0 else { return }
        do {
            _ = try Inflater.inflate(used, sizeMax: size - 1)
            preconditionFailure("a bound was exceeded")
        } catch { precondition(error.reason == .tooLong(sizeMax: size - 1)) }
    }

    private struct Failure: Error { let text: String }

    private static func read(_ bytes: [UInt8]) {
        _ = PropertyListLeaves.read(Data(bytes))
        guard let archive = try? KeyedArchive(bytes, path: "p", failure: { Failure(text: $0) }), let model = try? ArchivedModel(archive) else {
            return
        }
        for property in model.entities.flatMap(\.properties) {
            _ = try? model.elements(of: property.object)
            _ = try? property.object.has(.isOptional)
            _ = try? property.object.plain("NSDefaultValue")
        }
    }

    // MARK: Seeds

    static func writeSeeds(to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        func write(_ name: String, _ target: Target, _ bytes: [UInt8]) throws {
            try Data([target.rawValue] + bytes).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
        let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Goldens/ModelCaches/everything.cache")
        let cache = Array(try Data(contentsOf: golden))
        try write("cache", .compressed, cache)
        try write("archive", .archive, Array(Data(base64Encoded: smallArchive) ?? Data()))
        try write("stored", .compressed, [1, 3, 0, 0xFC, 0xFF, 97, 98, 99])
        try write("fixed", .compressed, [0x4B, 0x4C, 0x4A, 0x4E, 0x4C, 0x4A, 0x06, 0x00])
        try write("dynamic", .compressed, Array(Data(base64Encoded: dynamicBlock) ?? Data()))
    }

    /// Two entities in base 64. The second inherits by a proxy.
    private static let smallArchive =
        "YnBsaXN0MDDTAQIDBAVnWSRhcmNoaXZlclgkb2JqZWN0c1QkdG9wXxAPTlNLZXllZEFyY2hpdmVyrxAhBgcOExQVGCMkJScwMiQTNjg/QRMjQi"
        + "RBSUtQU1VZW2FjVSRudWxs0wgJCgsMDVYkY2xhc3NcTlNFbnRpdHlOYW1lXE5TUHJvcGVydGllc4ARgA2AENQICQoPCxAREl1OU1N1cGVyZW50"
        + "aXR5gBKAFYABUW4QB9EWF1okY2xhc3NuYW1lXxAWTlNBdHRyaWJ1dGVEZXNjcmlwdGlvbtYIGRobHB0eHyASISJfEA9OU0F0dHJpYnV0ZVR5cG"
        + "VeTlNEZWZhdWx0VmFsdWVYTlNFbnRpdHleTlNQcm9wZXJ0eU5hbWVSX1CABRBkgASAAxDzUXJRQdEWJl8QGU5TUmVsYXRpb25zaGlwRGVzY3Jp"
        + "cHRpb27VCCgpHCorLC0uL1xOU0lzT3B0aW9uYWxaTlNNYXhDb3VudF8QGF9OU0Rlc3RpbmF0aW9uRW50aXR5TmFtZYAJCRABgAeACNEWMV8QG1"
        + "9OU1Byb3BlcnR5RGVzY3JpcHRpb25Qcm94edIIMzQ1XxAUTlNVbmRlcmx5aW5nUHJvcGVydHmAC4AG0RY3XxATTlNNdXRhYmxlRGljdGlvbmFy"
        + "edMIOTo7PD5XTlMua2V5c1pOUy5vYmplY3RzgA+hPYAOoTXRFkBfEBNOU0VudGl0eURlc2NyaXB0aW9uUULTCDk6O0NGokRFgBOAFKJHSIAMgA"
        + "rRFkpXTlNBcnJhedIIOkxNgBiiTk+AFoAX0gg6TFGiElKAAtEWVF8QG05TS25vd25LZXlzTWFwcGluZ1N0cmF0ZWd5MdIIVldYVGtleXOAG4AZ"
        + "0RZaXxAWTlNLbm93bktleXNEaWN0aW9uYXJ5MdMIXF1eX2Bdc2VhcmNoTWFwcGluZ1Z2YWx1ZXOAHYAcgBrRFmJfEBROU01hbmFnZWRPYmplY3"
        + "RNb2RlbNIIZGVmWk5TRW50aXRpZXOAH4Ae0WhpVHJvb3SAIAAIAA8AGQAiACcAOQBdAGMAagBxAH4AiwCNAI8AkQCaAKgAqgCsAK4AsACyALUA"
        + "wADZAOYA+AEHARABHwEiASQBJgEoASoBLAEuATABMwFPAVoBZwFyAY0BjwGQAZIBlAGWAZkBtwG8AdMB1QHXAdoB8AH3Af8CCgIMAg4CEAISAh"
        + "UCKwItAjQCNwI5AjsCPgJAAkICRQJNAlICVAJXAlkCWwJgAmMCZQJoAoYCiwKQApIClAKXArACtwLFAswCzgLQAtIC1QLsAvEC/AL+AwADAwMI"
        + "AAAAAAAAAgEAAAAAAAAAagAAAAAAAAAAAAAAAAAAAwo="

    /// A block with codes of its own, made by zlib, in base 64.
    private static let dynamicBlock =
        "tY7BDcAACAJnRXD/FXrYdIQ+VIKCKJJmZocBCF3XtNYsiDGUijVeNp2HFEBOud0BkMk4nlECjwPlagK/RuAj+tB3DW9zjRn2XFTUB03yJSq5zd"
        + "Hzi/1yuWDZn9sD"
}
