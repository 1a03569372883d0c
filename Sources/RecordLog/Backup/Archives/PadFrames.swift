/// Pads, frames without meaning, which fill a range of a store's file that an archive lacks or in which frames of indexes are damaged.
enum PadFrames {
    /// So that most of a large hole stays sparse, and none takes much memory.
    static let lengthMax: UInt64 = 1 << 20
    private static let zeroes = [UInt8](repeating: 0, count: Int(lengthMax))

    /// The bytes of a pad that are not zero: its first ones.
    static let headLength = FrameHeader.alignment

    /// Cuts a range into pads, none of which crosses a segment's end.
    static func ranges(in range: Range<UInt64>, segmentSize: UInt64) -> [Range<UInt64>] {
        var found: [Range<UInt64>] = [], start = range.lowerBound
        while start < range.upperBound {
            let end = start + min(range.upperBound - start, segmentSize - start % segmentSize, lengthMax)
            found.append(start..<end)
            start = end
        }
        return found
    }

    /// The first bytes of a pad; all others are zero.
    static func head(of pad: Range<UInt64>, fileID: UInt64) -> [UInt8] {
        var frame = pad.count == zeroes.count ? zeroes : Array(zeroes[..<pad.count])
        frame.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            FrameHeader.seal(
                base, kind: .pad, payloadLength: pad.count - FrameHeader.Layout.size, sequence: 0, fileID: fileID, offset: pad.lowerBound)
        }
        return Array(frame[..<headLength])
    }

    /// A whole pad.
    static func frame(_ pad: Range<UInt64>, fileID: UInt64) -> [UInt8] {
        head(of: pad, fileID: fileID) + zeroes[headLength..<pad.count]
    }
}
