import Configuration
import ControlAPI
import LifecycleCore

@testable import LifecycleDaemon

extension FuzzTarget {
    /// The object to open: a media type, a line feed, a URL.
    static let url = FuzzTarget("url", takesList: true) { bytes in
        var input = FuzzInput(bytes)
        let type = input.text()
        guard let text = String(validating: input.rest, as: UTF8.self), let url = URLText(text) else { return }
        require(url.text == text, "a URL is what was written")
        let rest = String(decoding: text.utf8.drop { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        require(URLText(url.scheme.uppercased() + rest)?.scheme == url.scheme, "schemes have no case")
        if let path = url.filePath {
            require(path.utf8.first == UInt8(ascii: "/") && !path.utf8.contains(0), "a file has an absolute path")
            require(URLText(encoded(path))?.filePath == path, "a path that was written is read again")
        }
        let fileType = url.fileName.map { types.type(ofFile: $0) }
        for type in [type, fileType] {
            do throws(ControlError) {
                let id = try handlers.app(for: url, type: type)
                require(handlers.apps[id] != nil, "the app that opens it is known")
            } catch {
                require(!error.reason.isEmpty, "a refusal has a reason")
            }
        }
    }

    private static func encoded(_ path: String) -> String {
        "file://"
            + path.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            .replacing("%2f", with: "/")
    }

    private static let types = MediaTypes(path: #filePath.replacing("URLs.swift", with: "globs2"))

    private static let handlers: URLHandlers = {
        var apps: [AppID: AppDefinition] = [:]
        let opens = ["web": ["http", "https"], "text": ["text/plain", "text/*"], "other": ["https", "image/png"]]
        for (name, kinds) in opens {
            var definition = AppDefinition(adHoc: ["true", "%u"], user: .daemon, defaults: Policy())
            definition.mimeTypes = Set(kinds)
            apps[AppID(name)] = definition
        }
        return URLHandlers(apps: apps, defaults: ["https": "web"])
    }()
}
