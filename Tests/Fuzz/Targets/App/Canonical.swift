// What a codec makes of a line, as bytes that another build of it can be compared with. Also compiled as Embedded Swift.
#if !LIFED_FUZZ_EMBEDDED
    import AppChannel
#endif

func canonicalMessageToApp(_ line: ArraySlice<UInt8>) -> [UInt8] {
    do throws(LineError) {
        return try MessageToApp(parsing: line).encoded()
    } catch {
        return Array(error.description.utf8)
    }
}

func canonicalMessageFromApp(_ line: ArraySlice<UInt8>) -> [UInt8] {
    do throws(LineError) {
        return try MessageFromApp(parsing: line).encoded()
    } catch {
        return Array(error.description.utf8)
    }
}
