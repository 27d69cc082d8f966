import LifecycleCore

/// The app id of a window, which its client has chosen: `app_id` of Wayland, the class in `WM_CLASS` of X11.
///
/// It can name any app of the daemon. It adopts no process, so that a false claim can bring a running app to the foreground or
/// keep it running, and do nothing else.
struct AppIDClaim {
    /// The degree to which an app fits. The least is the best.
    private struct Fit: Comparable {
        enum Kind: Comparable {
            case id, idInOtherCase, windowClass, windowClassInOtherCase
        }

        let kind: Kind
        /// The number of the instance; 1 for the app itself.
        let instance: Int

        static func < (left: Fit, right: Fit) -> Bool { (left.kind, left.instance) < (right.kind, right.instance) }
    }

    private let text: String
    /// Toolkits differ in the case: Qt and X11 have `Firefox`, the entry `firefox`.
    private let folded: String

    init(_ text: String) {
        // Some toolkits name the file of the entry.
        let suffix = ".desktop".utf8
        let isFile = text.utf8.count > suffix.count && text.utf8.suffix(suffix.count).elementsEqual(suffix)
        self.text = isFile ? String(decoding: text.utf8.dropLast(suffix.count), as: UTF8.self) : text
        folded = self.text.lowercased()
    }

    /// Returns the app that the claim means; nil if there is none.
    ///
    /// An id counts before a class of a desktop entry, the same case before another one. Of several instances of one app, the
    /// first counts.
    ///
    /// - Parameter apps: The running apps, in the order of their ids, each with the class of its desktop entry.
    func best(among apps: some Sequence<(id: AppID, windowClass: String?)>) -> AppID? {
        var best: (id: AppID, fit: Fit)?
        for app in apps {
            guard let fit = fit(of: app.id, app.windowClass) else { continue }
            if best.map({ fit < $0.fit }) ?? true { best = (app.id, fit) }
        }
        return best?.id
    }

    private func fit(of id: AppID, _ windowClass: String?) -> Fit? {
        let (base, instance) = Self.instance(id.name)
        if id.name == text { return Fit(kind: .id, instance: 1) }
        if base == text { return Fit(kind: .id, instance: instance) }
        if id.name.lowercased() == folded { return Fit(kind: .idInOtherCase, instance: 1) }
        if base.lowercased() == folded { return Fit(kind: .idInOtherCase, instance: instance) }
        guard let windowClass else { return nil }
        if windowClass == text { return Fit(kind: .windowClass, instance: instance) }
        return windowClass.lowercased() == folded ? Fit(kind: .windowClassInOtherCase, instance: instance) : nil
    }

    /// Splits the id of an instance, as `AppCatalog.freeID(for:)` makes it: `mail-2` is the second of `mail`.
    private static func instance(_ id: String) -> (base: String, number: Int) {
        let bytes = id.utf8
        guard let dash = bytes.lastIndex(of: UInt8(ascii: "-")), dash != bytes.startIndex else { return (id, 1) }
        let digits = bytes[bytes.index(after: dash)...]
        guard digits.count <= 9, digits.first.map({ $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: "+") }) ?? false,
            let number = Int(String(decoding: digits, as: UTF8.self)), number >= 2
        else { return (id, 1) }
        return (String(decoding: bytes[..<dash], as: UTF8.self), number)
    }
}
