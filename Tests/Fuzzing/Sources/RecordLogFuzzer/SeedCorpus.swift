import Foundation

@testable import RecordLog

/// Initial inputs, made by the engine itself.
enum SeedCorpus {
    static func write(to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        func write(_ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
        for (name, bytes) in try HostileSeeds.all() {
            try write("file-\(name)", FuzzedInput.encoded(.file, .all, writes: false, bytes))
            try write("file-\(name)-written", FuzzedInput.encoded(.file, .all, writes: true, bytes))
            try write("file-\(name)-as-it-is", FuzzedInput.encoded(.file, [], writes: true, bytes))
            try write("header-\(name)", FuzzedInput.encoded(.header, [], writes: false, Array(bytes.prefix(8192))))
            try writeFrames(of: bytes, name) { try write($0, FuzzedInput.encoded($1, [], writes: false, $2)) }
        }
    }

    private static func writeFrames(of bytes: [UInt8], _ name: String, _ write: (String, FuzzedInput.Target, [UInt8]) throws -> Void) throws {
        var offset = Int(FileFormat.dataStart)
        var block: [UInt8] = []
        while offset < bytes.count {
            guard let header = bytes.withUnsafeBytes({ FrameHeader($0.baseAddress! + offset, limit: UInt64($0.count - offset)) }) else { return }
            let start = offset + FrameHeader.Layout.size
            let payload = Array(bytes[start..<start + Int(header.payloadLength)])
            let place = "\(name)-\(offset)"
            try write("frame-\(place)", .frame, Array(bytes[offset..<offset + Int(header.length)]))
            switch header.kind {
            case .commit: try write("footer-\(place)", .footer, payload)
            case .checkpoint: try write("manifest-\(place)", .manifest, payload)
            case .indexBlock: block = payload
            case .indexRoot:
                let size = max(payload.count, block.count)
                // A block's counts are at its end, a root's at its beginning.
                let root = payload + [UInt8](repeating: 0, count: size - payload.count)
                try write("run-\(place)", .run, root + [UInt8](repeating: 0, count: size - block.count) + block)
            case .pad, .rows, .primaryPage, .primaryDirectory, .batch, .valueChunk, .valueList, .prepared: break
            }
            offset += Int(header.length)
        }
        let files = HostileSeeds.Files()
        files.memory.setContents(of: HostileSeeds.path, to: bytes)
        let snapshot = try LogStore.open(path: HostileSeeds.path, options: HostileSeeds.options(files)).snapshot()
        for (target, row) in [(FuzzedInput.Target.catalog, Catalog.row), (.rowNumbers, RowNumbers.row)] {
            if let value = try snapshot.unsafeSystemValue(row) { try write("\(target)-\(name)", target, Array(value)) }
        }
    }
}
