/// How commands read a store's file.
enum StoreReading {
    static let unmapped = Parameter.flag(
        "no-mmap",
        """
        reads the file and does not map it, which takes memory for the parts that are read: for network and removable media, and disks with sectors that \
        cannot be read
        """)
}
