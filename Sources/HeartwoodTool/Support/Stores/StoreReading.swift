/// How commands read a store's file.
enum StoreReading {
    static let unmapped = Parameter.flag(
        "no-mmap",
        """
        reads the file in place of mapping it, which takes memory for what is read: for network and removable media, and disks with sectors that \
        cannot be read
        """)
}
