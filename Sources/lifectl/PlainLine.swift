/// A line of nothing but an action and an app's id: `lifectl focus org.example.Clock`.
///
/// Keys, buttons and scripts give such lines all the time. ArgumentParser has the Swift runtime look some fifty times through
/// everything that is linked in, whatever the line, which is four fifths of what the program does. So it is left to all other
/// lines; these mean the same to it.
struct PlainLine: Equatable {
    let action: AppAction
    let app: String

    /// nil where there are options, too many words or too few, or another command.
    init?(_ words: [String]) {
        guard words.count == 2, let action = AppAction(rawValue: words[0]), !words[1].hasPrefix("-") else { return nil }
        self.action = action
        app = words[1]
    }

    func run() throws { try action.perform(on: app, CallOptions()) }
}
