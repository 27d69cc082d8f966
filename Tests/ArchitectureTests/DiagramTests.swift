import LifecycleCore
import Testing

@Suite struct DiagramTests {
    /// The page shows the machine as the code has it: after a change of the table, print the diagram again from here.
    @Test(arguments: ["Sources/LifecycleCore/LifecycleCore.docc/LifecycleCore.md"])
    func `the documented diagram is the table's`(page: String) throws {
        let text = try SourceTree.read(SourceTree.root + "/" + page)
        for diagram in [AppState.graph.diagram, SceneState.graph.diagram] {
            #expect(text.contains(diagram + "\n```"), "the diagram should be:\n\(diagram)")
        }
    }
}
