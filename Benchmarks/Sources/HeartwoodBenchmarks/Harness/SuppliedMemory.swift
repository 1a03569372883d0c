import Glibc

/// Memory that the machine has at hand for what is timed next.
///
/// A virtual machine whose host takes free pages back (free page reporting) waits for the host at the first touch of each page: 3 to 11 µs were
/// seen in place of a quarter of one. Whoever is timed first after a pause pays that for files and heap alike, so the order of the peers and
/// what has run before decide. Touched and given back just before, the pages are the first that the system hands out again.
enum SuppliedMemory {
    private static let bytesPerRow = 2048, least = 64 << 20, most = 8 << 30

    /// Writes what others have left to the disk, and has as much memory as a workload over so many rows takes.
    static func settle(rows: Int) {
        sync()
        let count = min(max(rows * bytesPerRow, least), most)
        guard let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED else { return }
        for place in stride(from: 0, to: count, by: Int(getpagesize())) { start.storeBytes(of: 1, toByteOffset: place, as: UInt8.self) }
        munmap(start, count)
    }
}
