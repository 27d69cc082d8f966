// Beside the sources that `Rewriter` has rewritten: what they call where something can be broken. Everything behaves as the
// source says, but for the one mutant that the environment chooses.

import Glibc

/// The mutant that is alive in this process; 0 for none.
private let chosen = unsafe getenv("LIFED_MUTANT").flatMap { unsafe Int(String(cString: $0)) } ?? 0

/// Which mutants have been come by, where the environment asks for it: written to that file in the end.
nonisolated(unsafe) private let reached: UnsafeMutableBufferPointer<UInt8>? = unsafe {
    guard getenv("LIFED_MUTANTS_REACHED") != nil else { return nil }
    let marks = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1 << 16)
    marks.initialize(repeating: 0)
    atexit {
        guard let path = getenv("LIFED_MUTANTS_REACHED"), let file = fopen(path, "w"), let marks = reached else {
            return
        }
        for id in marks.indices where marks[id] != 0 { fputs("\(id)\n", file) }
        fclose(file)
    }
    return marks
}()

func mutant(_ id: Int) -> Bool {
    if let reached = unsafe reached { unsafe reached[id] = 1 }
    return id == chosen
}

enum Mutate {
    static func flip(_ id: Int, _ value: Bool) -> Bool { mutant(id) ? !value : value }

    static func and(_ id: Int, _ left: Bool, _ right: @autoclosure () -> Bool) -> Bool {
        mutant(id) ? left || right() : left && right()
    }

    static func or(_ id: Int, _ left: Bool, _ right: @autoclosure () -> Bool) -> Bool {
        mutant(id) ? left && right() : left || right()
    }

    static func less<Value: Comparable>(_ id: Int, _ left: Value, _ right: Value) -> Bool {
        mutant(id) ? left <= right : left < right
    }

    static func lessOrEqual<Value: Comparable>(_ id: Int, _ left: Value, _ right: Value) -> Bool {
        mutant(id) ? left < right : left <= right
    }

    /// Two mutants: one more, and one less.
    static func number<Value: FixedWidthInteger>(_ id: Int, _ value: Value) -> Value {
        mutant(id) ? value &+ 1 : mutant(id + 1) ? value &- 1 : value
    }

    static func pick<Value>(_ id: Int, _ value: Value, _ other: Value) -> Value { mutant(id) ? other : value }

    static func drop<Value>(_ id: Int, _ value: Value?) -> Value? { mutant(id) ? nil : value }

    static func empty<Value>(_ id: Int, _ values: [Value]) -> [Value] { mutant(id) ? [] : values }
}
