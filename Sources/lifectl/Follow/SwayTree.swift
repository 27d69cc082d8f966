import ControlAPI
import FoundationEssentials

/// A node of sway's tree of outputs, workspaces, containers and windows, as far as focus goes.
struct SwayNode: Decodable {
    var id: UInt64
    var name: String?
    var pid: Int64?
    var focused: Bool
    var visible: Bool?
    /// The children's ids, the one that had the focus last first.
    var focus: [UInt64]
    var nodes: [SwayNode]
    var floating: [SwayNode]

    private enum CodingKeys: String, CodingKey {
        case id, name, pid, focused, visible, focus, nodes
        case floating = "floating_nodes"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decodeIfPresent(UInt64.self, forKey: .id) ?? 0
        name = try values.decodeIfPresent(String.self, forKey: .name)
        pid = try values.decodeIfPresent(Int64.self, forKey: .pid)
        focused = try values.decodeIfPresent(Bool.self, forKey: .focused) ?? false
        visible = try values.decodeIfPresent(Bool.self, forKey: .visible)
        focus = try values.decodeIfPresent([UInt64].self, forKey: .focus) ?? []
        nodes = try values.decodeIfPresent([SwayNode].self, forKey: .nodes) ?? []
        floating = try values.decodeIfPresent([SwayNode].self, forKey: .floating) ?? []
    }

    init?(json: [UInt8]) {
        guard let node = try? JSONDecoder().decode(SwayNode.self, from: Data(json)) else { return nil }
        self = node
    }

    private var children: [SwayNode] { nodes + floating }

    /// A window has a process, and nothing in it.
    private var item: Item? {
        guard let pid, children.isEmpty else { return nil }
        return Item(number: id, process: pid, title: name ?? "")
    }

    /// What a person sees, and what has the keyboard.
    var observation: Observation {
        var observation = Observation()
        var visible: [Item] = []
        gather(&visible)
        observation.uses[.visible] = visible
        if let focused = focusedNode {
            observation.focus = focused.latestItem.map { .item($0) } ?? .nothing
        }
        return observation
    }

    private func gather(_ visible: inout [Item]) {
        guard visible.count < Observation.limit else { return }
        if self.visible == true, let item { visible.append(item) }
        for child in children { child.gather(&visible) }
    }

    /// None where something that is in no workspace has the keyboard, as the screen of a locker has.
    private var focusedNode: SwayNode? {
        if focused { return self }
        for child in children { if let node = child.focusedNode { return node } }
        return nil
    }

    /// The window of a container, or of a workspace, that had the focus last.
    private var latestItem: Item? {
        if let item { return item }
        let order = focus.compactMap { id in children.first { $0.id == id } }
        for child in order.isEmpty ? children : order { if let item = child.latestItem { return item } }
        return nil
    }
}
