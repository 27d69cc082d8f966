import LifecycleCore
import Testing

@Suite struct DiagramTests {
    /// The page shows the machine as the code has it: after a change of the table, print the diagram again from here.
    @Test(arguments: ["Sources/LifecycleCore/LifecycleCore.docc/LifecycleCore.md"])
    func `the documented diagram is the table's`(page: String) throws {
        let text = try SourceTree.read(SourceTree.root + "/" + page)
        for diagram in [diagram(of: AppState.self), diagram(of: SceneState.self)] {
            #expect(text.contains(diagram + "\n```"), "the diagram should be:\n\(diagram)")
        }
    }

    /// Returns the steps between the states as a Mermaid state diagram.
    private func diagram<State: GraphState>(of states: State.Type) -> String {
        let edges = State.allCases.flatMap { from in State.allCases.compactMap { from.edge(to: $0) } }
        let lines = edges.map { edge in
            var label: [String] = []
            if let gate = edge.gate { label.append("[\(gate.rawValue)]") }
            if let callback = edge.before { label.append(callback.rawValue + " →") }
            if let step = edge.process { label.append(step.rawValue) }
            if !edge.after.isEmpty { label.append("→ " + edge.after.map { $0.rawValue }.joined(separator: ", ")) }
            return "    \(edge.from.rawValue) --> \(edge.to.rawValue)"
                + (label.isEmpty ? "" : ": " + label.joined(separator: " "))
        }
        let initial = edges.prefix(1).map { "    [*] --> \($0.from.rawValue)" }
        return (["stateDiagram-v2"] + initial + lines).joined(separator: "\n")
    }
}
