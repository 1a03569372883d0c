#if !canImport(ObjectiveC)
    import Foundation

    /// Reads the arguments of a `CVaListPointer`, as `withVaList` makes it, by the conversions of a format.
    ///
    /// The conversions take C's types: `%d` an `int`, `%ld` and `%lld` a `long`, `%f` a `double`, `%@` and `%K` an object.
    struct CVariableArguments {
        private var list: Registers

        init(_ list: CVaListPointer) {
            self.list = Registers(list)
        }

        /// The arguments of a format, in the format's order.
        /// - Throws: if the format is malformed.
        static func read(_ list: CVaListPointer, for format: String) throws -> [Any?] {
            var lexer = try PredicateLexer(format)
            var arguments = CVariableArguments(list), values: [Any?] = []
            while lexer.token != .end {
                if case .argument(let letters) = lexer.token { values.append(arguments.next(letters)) }
                try lexer.advance()
            }
            return values
        }

        private mutating func next(_ letters: String) -> Any? {
            let isLong = letters.unicodeScalars.count > 1 && letters.first != "h"
            switch letters.unicodeScalars.last {
            case "@", "K":
                guard let object = list.pointer() else { return nil }
                let value = Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue()
                return (value as? ArgumentText)?.value ?? value
            case "e", "E", "f", "F", "g", "G", "a", "A": return list.double()
            case "s", "S": return list.pointer().map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
            case "u", "U", "x", "X", "o", "O", "p":
                let word = UInt(bitPattern: list.word())
                return isLong || letters == "p" ? word : UInt(UInt32(truncatingIfNeeded: word))
            default:
                let word = list.word()
                return isLong ? word : Int(Int32(truncatingIfNeeded: word))
            }
        }
    }

    extension CVariableArguments {
        /// The positions of the next words and doubles of a list, by the rules of the platform's C.
        private struct Registers {
            private var stack: UnsafeRawPointer
            // The ends of the areas for words and doubles passed in registers, and the number of bytes in each that are not read yet.
            private var wordsEnd: UnsafeRawPointer
            private var doublesEnd: UnsafeRawPointer
            private var wordBytes = 0
            private var doubleBytes = 0

            #if arch(x86_64) && !os(Windows)
                init(_ list: CVaListPointer) {
                    struct Header {
                        let words, doubles: UInt32
                        let stack, saved: UnsafeRawPointer
                    }
                    let header = unsafeBitCast(list, to: UnsafePointer<Header>.self).pointee
                    stack = header.stack
                    wordsEnd = header.saved + 48
                    doublesEnd = header.saved + 48 + 128
                    wordBytes = 48 - Int(header.words)
                    doubleBytes = 48 + 128 - Int(header.doubles)
                }
            #elseif arch(arm64) && !os(Windows)
                init(_ list: CVaListPointer) {
                    struct Header {
                        let stack, words, doubles: UnsafeRawPointer
                        let wordOffset, doubleOffset: Int32
                    }
                    let header = unsafeBitCast(list, to: Header.self)
                    stack = header.stack
                    wordsEnd = header.words
                    doublesEnd = header.doubles
                    wordBytes = max(0, -Int(header.wordOffset))
                    doubleBytes = max(0, -Int(header.doubleOffset))
                }
            #else
                init(_ list: CVaListPointer) {
                    stack = unsafeBitCast(list, to: UnsafeRawPointer.self)
                    wordsEnd = stack
                    doublesEnd = stack
                }
            #endif

            mutating func word() -> Int {
                guard wordBytes > 0 else { return takeFromStack(as: Int.self) }
                defer { wordBytes -= MemoryLayout<Int>.size }
                return (wordsEnd - wordBytes).load(as: Int.self)
            }

            mutating func pointer() -> UnsafeRawPointer? { UnsafeRawPointer(bitPattern: word()) }

            mutating func double() -> Double {
                guard doubleBytes > 0 else { return takeFromStack(as: Double.self) }
                defer { doubleBytes -= 16 }
                return (doublesEnd - doubleBytes).load(as: Double.self)
            }

            private mutating func takeFromStack<Value: BitwiseCopyable>(as type: Value.Type) -> Value {
                defer { stack += max(MemoryLayout<Value>.size, MemoryLayout<Int>.size) }
                return stack.loadUnaligned(as: type)
            }
        }
    }

    /// The text form of an argument that is no object for C's formats. A predicate's format takes the value from it.
    ///
    /// `withVaList` passes one object for each argument, and a String format can print only Foundation's strings.
    final class ArgumentText: NSMutableString {
        private(set) var value: Any?
        private var units: [unichar] = []

        convenience init(of value: Any, _ text: String) {
            self.init(capacity: 0)
            self.value = value
            units = Array(text.utf16)
        }

        override var length: Int { units.count }
        override func character(at index: Int) -> unichar { units[index] }

        // Foundation requires these initializers of a subclass. They are not used.

        required init(capacity: Int) { super.init(capacity: capacity) }

        required convenience init(string: String) { self.init(of: string, string) }

        required convenience init(characters: UnsafePointer<unichar>, length: Int) {
            self.init(string: String(decoding: UnsafeBufferPointer(start: characters, count: length), as: UTF16.self))
        }

        required convenience init?(coder: NSCoder) { nil }
        required convenience init(stringLiteral value: StaticString) { self.init(string: "\(value)") }
        required convenience init(unicodeScalarLiteral value: StaticString) { self.init(string: "\(value)") }
        required convenience init(extendedGraphemeClusterLiteral value: StaticString) { self.init(string: "\(value)") }
    }
#endif
