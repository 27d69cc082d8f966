/// Why a text is not TOML, or is TOML of a shape that no configuration has.
struct TOMLDefect: Error, Equatable {
    /// The line concerned, counted from 1.
    let line: Int

    let message: String
}
