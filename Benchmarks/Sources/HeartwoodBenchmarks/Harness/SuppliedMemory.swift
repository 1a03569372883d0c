import Glibc

/// Supplies the memory for the next measurement in advance.
///
/// A virtual machine whose host takes free pages back (free page reporting) waits for the host at the first touch of each page: 3 to 11 µs were
/// measured, instead of 0.25. The first measurement after a pause pays that for files and heap alike, so the results depend on the order of the
/// peers and on earlier work. Pages that were touched and freed just before are the first that the system hands out again.
enum SuppliedMemory {
    private static let bytesPerRow = 2048, least = 64 << 20, most = 8 << 30

    /// Writes earlier dirty pages to the disk, and touches as much memory as a workload over this number of rows takes.
    static func settle(rows: Int) {
        sync()
        let count = min(max(rows * bytesPerRow, least), most)
        guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED else { return }
        for place in stride(from: 0, to: count, by: Int(getpagesize())) { start.storeBytes(of: 1, toByteOffset: place, as: UInt8.self) }
        munmap(start, count)
    }
}
