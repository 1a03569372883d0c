// The C library of each platform, under one name.
#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#elseif canImport(Android)
    @_exported import Android
#elseif canImport(Darwin)
    @_exported import Darwin
#elseif canImport(ucrt)
    @_exported import ucrt
    @_exported import WinSDK
#endif
