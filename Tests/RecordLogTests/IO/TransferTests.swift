import Foundation
import HeartwoodPlatform
import Testing

@testable import RecordLog

/// The loops around `pread` and `pwrite`: short transfers and signals are not errors.
@Suite struct TransferTests {
    private enum Call {
        case transfers(Int)
        case fails(Int32)
    }

    /// Runs a transfer over calls with scripted results.
    private func transfer(_ count: Int, _ script: [Call]) -> (done: Int, code: Int32?, asked: [Int]) {
        var asked: [Int] = []
        let (done, code) = SystemCall.transfer(count) { done in
            asked.append(done)
            switch script[asked.count - 1] {
            case .transfers(let count): return count
            case .fails(let code):
                errno = code
                return -1
            }
        }
        return (done, code, asked)
    }

    @Test
    func `Short transfers are continued where they ended`() {
        let result = transfer(10, [.transfers(3), .transfers(1), .transfers(6)])
        #expect(result.done == 10 && result.code == nil && result.asked == [0, 3, 4])
    }

    @Test
    func `A signal is no error`() {
        let result = transfer(4, [.fails(EINTR), .fails(EINTR), .transfers(1), .fails(EINTR), .transfers(3)])
        #expect(result.done == 4 && result.code == nil && result.asked == [0, 0, 0, 1, 1])
    }

    @Test
    func `An error has the number of bytes transferred`() {
        let result = transfer(4, [.transfers(3), .fails(EIO)])
        #expect(result.done == 3 && result.code == EIO)
    }

    @Test
    func `A transfer ends at the end of the file`() {
        let result = transfer(4, [.transfers(2), .transfers(0)])
        #expect(result.done == 2 && result.code == nil)
    }

    @Test
    func `A transfer of nothing makes no call`() {
        #expect(transfer(0, []).asked.isEmpty)
    }

    @Test
    func `A read at an offset that no file has finds the end, and a write there is refused with path and offset`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-transfer-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try POSIXFileSystem().open(path, .create), offset = UInt64(Int64.max)
        var bytes: [UInt8] = [1, 1]
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        #expect(count == 0)
        let error = #expect(throws: StoreError.self) { try bytes.withUnsafeBytes { try file.write($0, at: offset) } }
        #expect(error?.code == .noSpace && error?.path == path && error?.offset == offset)
        #expect(try file.size() == 0)
    }
}
