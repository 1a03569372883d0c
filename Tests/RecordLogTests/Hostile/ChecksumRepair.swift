@testable import RecordLog

/// Repairs the checksums of a damaged store, so that the bytes behind them are read.
struct ChecksumRepair: OptionSet {
    let rawValue: UInt8

    /// The checksums of identities and superblocks.
    static let header = ChecksumRepair(rawValue: 1)
    /// The checksums of frames, with the complements of their lengths.
    static let frames = ChecksumRepair(rawValue: 2)
    /// The checksums of other frames in frames and superblocks.
    static let pointers = ChecksumRepair(rawValue: 4)
    /// The links between footers in the chain of commits.
    static let chain = ChecksumRepair(rawValue: 8)
    static let all: ChecksumRepair = [.header, .frames, .pointers, .chain]

    /// One pass is enough, because a frame refers only to earlier frames.
    func apply(to bytes: inout [UInt8]) {
        guard bytes.count >= Int(FileFormat.dataStart) else { return }
        bytes.withUnsafeMutableBytes { bytes in
            var pass = Pass(bytes: bytes, parts: self)
            pass.run()
        }
    }

    private struct Pass {
        let bytes: UnsafeMutableRawBufferPointer
        let parts: ChecksumRepair
        var fileID: UInt64 = 0
        var segmentSize = 1 << 16
        /// Checksums of frames by offset.
        var checksums: [UInt64: UInt64] = [:]
        var lastCommit: UInt64 = 0
        var partsChecksum: UInt64 = 0
        var firstPart: UInt64?

        init(bytes: UnsafeMutableRawBufferPointer, parts: ChecksumRepair) {
            self.bytes = bytes
            self.parts = parts
        }

        func load<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }

        func store<Value: FixedWidthInteger>(_ value: Value, _ offset: Int) {
            bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
        }

        func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[range])
        }

        mutating func run() {
            repairIdentities()
            var offset = Int(FileFormat.dataStart)
            while offset + FrameHeader.lengthMin <= bytes.count { offset += repairFrame(offset) }
            repairSuperblocks()
        }

        mutating func repairIdentities() {
            for offset in FileFormat.identityOffsets.map(Int.init).reversed() {
                if parts.contains(.header) {
                    let sum = XXH64.hash(slice(offset..<offset + FileIdentity.Layout.checksum), seed: 0)
                    store(sum, offset + FileIdentity.Layout.checksum)
                }
                guard let identity = FileIdentity(slice(offset..<offset + FileIdentity.Layout.size)) else { continue }
                fileID = identity.fileID
                if FileFormat.segmentShiftRange.contains(identity.segmentShift) { segmentSize = 1 << Int(identity.segmentShift) }
            }
        }

        func repairSuperblocks() {
            for offset in FileFormat.superblockOffsets.map(Int.init) {
                if parts.contains(.pointers) { repairPointer(offset + Superblock.Layout.checkpointOffset) }
                guard parts.contains(.header) else { continue }
                let sum = XXH64.hash(slice(offset..<offset + Superblock.Layout.checksum), seed: fileID)
                store(sum, offset + Superblock.Layout.checksum)
            }
        }

        func repairPointer(_ at: Int) {
            guard let known = checksums[load(at, UInt64.self)] else { return }
            store(known, at + 8)
        }

        /// - Returns: the distance to the next frame, or to the next offset where one could be.
        mutating func repairFrame(_ offset: Int) -> Int {
            let length = Int(load(offset, UInt32.self))
            let room = min(segmentSize - offset % segmentSize, bytes.count - offset)
            guard length >= FrameHeader.lengthMin, length % FrameHeader.alignment == 0, length <= room else { return FrameHeader.alignment }
            if parts.contains(.frames) { store(~UInt32(length), offset + FrameHeader.Layout.complement) }
            let payloadLength = Int(load(offset + FrameHeader.Layout.payloadLength, UInt32.self))
            let kind = FrameKind(rawValue: bytes[offset + FrameHeader.Layout.kind])
            guard let kind, payloadLength <= length - FrameHeader.Layout.size else { return length }
            let start = offset + FrameHeader.Layout.size
            let payload = start..<start + payloadLength
            if parts.contains(.pointers) { repairPointers(kind, payload) }
            if kind == .commit || kind == .prepared, parts.contains(.chain) { repairFooter(offset, payload) }
            if parts.contains(.frames) {
                let sum = FrameHeader.checksum(
                    of: UnsafeRawPointer(bytes.baseAddress! + offset), length: UInt32(length), fileID: fileID, offset: UInt64(offset))
                store(sum, offset + FrameHeader.Layout.checksum)
            }
            note(kind, offset)
            return length
        }

        mutating func note(_ kind: FrameKind, _ offset: Int) {
            let sum = load(offset + FrameHeader.Layout.checksum, UInt64.self)
            checksums[UInt64(offset)] = sum
            if [.rows, .valueChunk, .valueList, .prepared].contains(kind) {
                firstPart = firstPart ?? UInt64(offset)
                partsChecksum = CommitFooter.folding(partsChecksum, sum)
            } else if kind == .commit {
                lastCommit = sum
                firstPart = nil
                partsChecksum = 0
            }
        }

        func repairFooter(_ offset: Int, _ payload: Range<Int>) {
            guard payload.count >= CommitFooter.Layout.size else { return }
            let at = payload.upperBound - CommitFooter.Layout.size
            store(lastCommit, at + CommitFooter.Layout.previousChecksum)
            store(partsChecksum, at + CommitFooter.Layout.partsChecksum)
            store(firstPart ?? UInt64(offset), at + CommitFooter.Layout.start)
        }

        func repairPointers(_ kind: FrameKind, _ payload: Range<Int>) {
            switch kind {
            case .primaryDirectory:
                for at in stride(from: payload.lowerBound, to: payload.upperBound - 15, by: 16) { repairPointer(at) }
            case .indexRoot:
                let start = payload.lowerBound + IndexRoot.Layout.words
                guard start <= payload.upperBound else { return }
                let count = min(Int(load(payload.lowerBound, UInt32.self)), (payload.upperBound - start) / IndexRoot.Layout.perBlock)
                for index in 0..<count { repairPointer(start + count * 8 + index * 16) }
            case .checkpoint:
                repairManifest(payload)
            case .valueList:
                for at in stride(from: payload.lowerBound + 16, to: payload.upperBound - 15, by: 16) { repairPointer(at) }
            case .rows, .commit: repairReferences(payload)
            case .pad, .primaryPage, .indexBlock, .batch, .valueChunk, .prepared: break
            }
        }

        /// A row may have references to values anywhere: bytes that look like one and name an earlier frame are treated as one.
        func repairReferences(_ payload: Range<Int>) {
            guard payload.count >= ValueReference.size else { return }
            for at in payload.lowerBound...(payload.upperBound - ValueReference.size) where bytes[at] == 1 || bytes[at] == 2 {
                guard load(at + 1, UInt64.self) < 1 << 20 else { continue }
                repairPointer(at + 9)
            }
        }

        /// A manifest has version, sequence, checksum, the log's end, previous checkpoint; tables that end in a pointer; indexes with their runs.
        func repairManifest(_ payload: Range<Int>) {
            var at = payload.lowerBound + 9
            func has(_ count: Int) -> Bool { at + count <= payload.upperBound }
            guard has(36) else { return }
            store(lastCommit, at)
            repairPointer(at + 16)
            let tables = load(at + 32, UInt32.self)
            at += 36
            for _ in 0..<tables {
                guard has(42) else { return }
                repairPointer(at + 26)
                at += 42
            }
            guard has(4) else { return }
            let indexes = load(at, UInt32.self)
            at += 4
            for _ in 0..<indexes {
                guard has(6) else { return }
                let runs = load(at + 2, UInt32.self)
                at += 6
                for _ in 0..<runs {
                    guard has(32) else { return }
                    repairPointer(at)
                    at += 32
                }
            }
        }
    }
}
