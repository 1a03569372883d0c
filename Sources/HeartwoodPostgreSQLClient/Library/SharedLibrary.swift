internal import Foundation
#if canImport(WinSDK)
    internal import WinSDK
#endif

/// A library that the system loads while the program runs. It stays loaded.
struct SharedLibrary: @unchecked Sendable {
    // Unchecked: the system's handle, which any thread may use.
    #if canImport(WinSDK)
        private let handle: HMODULE

        init?(_ name: String) {
            guard let handle = name.withCString(encodedAs: UTF16.self, { LoadLibraryW($0) }) else { return nil }
            self.handle = handle
        }

        func symbol(_ name: String) -> UnsafeRawPointer? {
            GetProcAddress(handle, name).map { unsafeBitCast($0, to: UnsafeRawPointer.self) }
        }
    #else
        private let handle: UnsafeMutableRawPointer

        init?(_ name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
            self.handle = handle
        }

        func symbol(_ name: String) -> UnsafeRawPointer? { dlsym(handle, name).map { UnsafeRawPointer($0) } }
    #endif
}
