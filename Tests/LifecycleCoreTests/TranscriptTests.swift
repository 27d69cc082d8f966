import Glibc
import Testing

/// The cases of Transcripts, as the core plays them.
///
/// With `LIFED_REWRITE_TRANSCRIPTS=1` the test writes into the files what the core does; `git diff` then shows what changed.
@Suite struct TranscriptTests {
    static let isRewriting = unsafe getenv("LIFED_REWRITE_TRANSCRIPTS") != nil

    @Test func `there are transcripts`() { #expect(Transcript.files.count > 4) }

    @Test(arguments: Transcript.files)
    func `transcript matches what the core decides`(file: String) throws {
        let transcript = try Transcript(file: file)
        #expect(!transcript.names.isEmpty && Set(transcript.names).count == transcript.names.count)
        do {
            let (differences, text) = try transcript.play()
            if Self.isRewriting { return try Transcript.write(text, to: file) }
            for difference in differences {
                Issue.record(
                    "\(difference.name):\n\(difference.diff)", sourceLocation: location(file, difference.line))
            }
        } catch let mistake as Transcript.Mistake {
            Issue.record("\(mistake)", sourceLocation: location(file, mistake.line))
        }
    }

    private func location(_ file: String, _ line: Int) -> SourceLocation {
        SourceLocation(
            fileID: "LifecycleCoreTests/\(file)", filePath: Transcript.folder + "/" + file, line: line, column: 1)
    }
}
