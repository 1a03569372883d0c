import HeartwoodTestSupport
import Testing

@testable import RecordLog

@Suite struct LogArchiveTests {
    /// A base archive and an increment of a small store.
    private static func archives() async throws -> (store: BackedUpStore, objects: [BackupObject], files: MemoryFileSystem) {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        for number in 0..<3 { try store.commit(number) }
        try await store.backUp()
        for number in 3..<6 { try store.commit(number) }
        try await store.backUp()
        return (store, try await store.archives(), files)
    }

    private static func path(_ object: BackupObject) -> String { BackedUpStore.folder + "/" + object.name }

    private static func read(_ object: BackupObject, _ destination: DirectoryDestination) async throws {
        let listed = try #require(ListedArchive(object))
        try await ArchiveVerification(try await LogArchiveReader(listed, at: destination)).run()
    }

    @Test
    func `The numbers of the format are those of docs/format/log-archive.md`() {
        #expect(LogArchiveHeader.Layout.size == 192 && LogArchiveTrailer.Layout.size == 64)
        #expect(LogArchiveFormat.blockMax == 1_048_560 && LogArchiveFormat.Block.size == 16 && LogArchiveFormat.version == 1)
        #expect(LogArchiveHeader.magic == Array("HEARTLOG".utf8) && LogArchiveTrailer.magic == Array("HWLOGEND".utf8))
    }

    @Test
    func `Whole archives pass, and no changed byte does`() async throws {
        let (store, objects, files) = try await Self.archives()
        for object in objects {
            try await Self.read(object, store.destination)
            let whole = try #require(files.contents(of: Self.path(object)))
            for place in whole.indices where place < 400 || place > whole.count - 300 || place % 37 == 0 {
                var bytes = whole
                bytes[place] ^= 1 << UInt8(place % 8)
                files.setContents(of: Self.path(object), to: bytes)
                await #expect("byte \(place) of \(object.name)") { try await Self.read(object, store.destination) } throws: {
                    [.damaged, .foreign, .newerVersion].contains(($0 as? BackupError)?.code)
                }
            }
            files.setContents(of: Self.path(object), to: whole)
        }
    }

    @Test
    func `No archive that was cut, or that has bytes behind its end, passes`() async throws {
        let (store, objects, files) = try await Self.archives()
        for object in objects {
            let whole = try #require(files.contents(of: Self.path(object)))
            for count in Array(stride(from: 0, to: whole.count, by: 61)) + [whole.count - 1] {
                files.setContents(of: Self.path(object), to: Array(whole[..<count]))
                await #expect(throws: BackupError.self) {
                    try await Self.read(BackupObject(name: object.name, size: UInt64(count)), store.destination)
                }
            }
            files.setContents(of: Self.path(object), to: whole + [0])
            await #expect(throws: BackupError.self) {
                try await Self.read(BackupObject(name: object.name, size: UInt64(whole.count + 1)), store.destination)
            }
        }
    }

    @Test
    func `An archive of a newer version is named as such`() async throws {
        let (store, objects, files) = try await Self.archives()
        var bytes = try #require(files.contents(of: Self.path(objects[0])))
        bytes[8] = 2
        let checksum = bytes.withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[..<184]), seed: 0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(184..<192, with: $0) }
        files.setContents(of: Self.path(objects[0]), to: bytes)
        await #expect { try await Self.read(objects[0], store.destination) } throws: { ($0 as? BackupError)?.code == .newerVersion }
    }

    @Test
    func `A damaged or missing archive is skipped where another one has its commits, and named where none has`() async throws {
        let files = MemoryFileSystem(), store = try BackedUpStore(destination: files)
        for number in 0..<9 {
            try store.commit(number)
            if number % 3 == 2 { try await store.backUp() }
        }
        let objects = try await store.archives()
        #expect(objects.count == 3)
        // A second archive of all commits but the first few.
        let source = try BackupSource(path: SampleStore.path, options: store.sample.options)
        let first = try await LogArchiveReader(try #require(ListedArchive(objects[0])), at: store.destination).header
        var finder = LogRangeFinder(
            source, after: LogPosition(sequence: first.last, checksum: first.lastChecksum, end: first.end),
            published: try source.superblock(), lineage: try source.lineage())
        let range = try #require(try finder.next(bytesMax: .max)), name = ArchiveName(range.header)
        let upload = LogArchiveUpload(range, from: source)
        try await store.destination.put(name.text, size: upload.length, upload)
        for object in objects.dropFirst() {
            let whole = try #require(files.contents(of: Self.path(object)))
            for isMissing in [false, true] {
                if isMissing { try files.remove(Self.path(object)) } else {
                    files.setContents(of: Self.path(object), to: Array(whole.dropLast(70)) + [UInt8](repeating: 7, count: 70))
                }
                for sequence in 1...store.sequence { try await store.check(sequence, "\(object.name) is damaged") }
            }
            files.setContents(of: Self.path(object), to: whole)
        }
        try files.remove(Self.path(BackupObject(name: name.text, size: 0)))
        var bytes = try #require(files.contents(of: Self.path(objects[1])))
        bytes[bytes.count / 2] ^= 1
        files.setContents(of: Self.path(objects[1]), to: bytes)
        let known = try #require(ListedArchive(objects[1])).name
        for sequence in 1...known.first - 1 { try await store.check(sequence, "before the damage") }
        await #expect { _ = try await store.restore() } throws: { error in
            let error = error as? BackupError
            return error?.code == .damaged && error?.description.contains(objects[1].name) == true
                && error?.message.contains("commits 1 to \(known.first - 1)") == true
        }
        #expect(try await BackupArchives(at: store.destination).verify().map(\.code) == [.damaged])
        // The next backup finds no fault, since the archive's header and trailer are whole; a new commit goes behind the last one.
        try store.commit(1)
        #expect(try await store.backUp().archives == 1)
    }

    @Test
    func `Names come back as they were made, and other texts are none`() async throws {
        let (_, objects, _) = try await Self.archives()
        for object in objects {
            let name = try #require(ArchiveName(object.name))
            #expect(name.text == object.name)
            for text in [
                "", "/", object.name + "x", "x" + object.name, object.name.uppercased(), String(object.name.dropLast()),
                object.name.replacingOccurrences("-", with: "--"), object.name.replacingOccurrences("/", with: "//"),
                "../" + object.name, object.name.replacingOccurrences("0", with: "g"),
            ] { #expect(ArchiveName(text) == nil, "\(text)") }
        }
    }

    @Test
    func `A directory refuses names that lead out of it, and a name that is taken`() async throws {
        let destination = DirectoryDestination(path: "d", fileSystem: MemoryFileSystem())
        for name in ["", "/a", "a/", "a//b", "../a", "a/../b", ".", "a b", "ä", String(repeating: "a", count: 513)] {
            await #expect("\(name)") { try await destination.put(name, size: 1, BackupBytes([1])) } throws: {
                ($0 as? BackupError)?.code == .invalidArgument
            }
            await #expect(throws: BackupError.self) { _ = try await destination.get(name, 0..<1) }
        }
        try await destination.put("a/b.c", size: 3, BackupBytes([1, 2, 3]))
        await #expect { try await destination.put("a/b.c", size: 1, BackupBytes([9])) } throws: { ($0 as? BackupError)?.code == .exists }
        #expect(try await destination.get("a/b.c", 1..<3) == [2, 3])
        #expect(try await destination.list(prefix: "") == [BackupObject(name: "a/b.c", size: 3)])
        #expect(try await destination.list(prefix: "a/b") == [BackupObject(name: "a/b.c", size: 3)])
        #expect(try await destination.list(prefix: "b").isEmpty)
        await #expect { _ = try await destination.get("a/b.c", 1..<4) } throws: { ($0 as? BackupError)?.code == .damaged }
        try await destination.delete("a/b.c")
        try await destination.delete("a/b.c")
        await #expect { _ = try await destination.get("a/b.c", 0..<1) } throws: { ($0 as? BackupError)?.code == .notFound }
    }
}

extension String {
    fileprivate func replacingOccurrences(_ text: Character, with other: String) -> String { map { $0 == text ? other : String($0) }.joined() }
}
