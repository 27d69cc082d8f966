/// Returns a base directory of a user, as in the XDG Base Directory Specification 0.8: a relative path does not count.
///
/// - Parameters:
///   - variable: The variable that names the directory, such as XDG_CONFIG_HOME.
///   - path: The default, in the directory that HOME names.
///   - environment: The variables of the user.
/// - Returns: The directory; nil if no variable names it.
public func baseDirectory(
    _ variable: String, inHome path: String, of environment: [String: String]
) -> String? {
    func value(_ name: String) -> String? {
        environment[name].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
    }
    return value(variable) ?? value("HOME").map { "\($0)/\(path)" }
}
