@testable import HeartwoodDigests
import Testing

struct DigestTests {
    @Test(arguments: [
            // FIPS 180-4's examples, and lengths around a block's end as `sha256sum` gives them.
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (String(repeating: "a", count: 1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
            ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ])
    func `SHA-256 gives the published hashes`(text: String, hash: String)
    {
        #expect(Hexadecimal.text(SHA256.hash(text.utf8)) == hash)
    }

    @Test
    func `MD5 gives the published hashes, and those of lengths around a block's end`() {
        #expect(Hexadecimal.text(MD5.hash("".utf8)) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(Hexadecimal.text(MD5.hash("abc".utf8)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            Hexadecimal.text(MD5.hash(String(repeating: "1234567890", count: 8).utf8)) == "57edf4a22be3c955ac49da2e2107b67a")
        // The hash of the hashes of all lengths, by Python's hashlib.
        let all = (0..<200).flatMap { count in MD5.hash((0..<count).map { UInt8(truncatingIfNeeded: $0) }) }
        #expect(Hexadecimal.text(MD5.hash(all)) == "eefa41f088d589fcf4e0f2c1cfdb7a3f")
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000])
    func `A message in pieces has the hash of the whole`(count: Int) {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let whole = SHA256.hash(message)
        for step in [1, 37, 64, 65] {
            var hash = SHA256()
            for start in stride(from: 0, to: count, by: step) { hash.update(message[start..<min(start + step, count)]) }
            #expect(hash.finished() == whole, "pieces of \(step)")
        }
        if count == 1000 { #expect(Hexadecimal.text(whole) == "a8af099bf2e878609558dbf69d8f88f4a31040a8cf84b549a0cfa912f12ffc3f") }
        if count == 119 { #expect(Hexadecimal.text(whole) == "da18797ed7c3a777f0847f429724a2d8cd5138e6ed2895c3fa1a6d39d18f7ec6") }
    }

    @Test(
        arguments: [
            ([UInt8](repeating: 0x0b, count: 20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (Array("Jefe".utf8), "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func `HMAC gives the hashes of RFC 4231`(key: [UInt8], message: String, hash: String)
    {
        #expect(Hexadecimal.text(HMAC.sha256(message.utf8, key: key)) == hash)
    }
}
