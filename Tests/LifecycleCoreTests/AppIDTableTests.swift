import LifecycleTypes
import Testing

@testable import LifecycleCore

@Suite struct AppIDTableTests {
    @Test func tableFindsWhatWasInsertedAndNotRemoved() {
        var random = SystemRandomNumberGenerator()
        let ids = (0..<600).map { AppID("app-\($0)") }
        var table = AppIDTable()
        var present: Set<Int> = []
        #expect(table.position(of: ids[0]) { _ in true } == nil)
        for _ in 0..<6_000 {
            let position = Int.random(in: 0..<ids.count, using: &random)
            if present.remove(position) != nil {
                table.remove(position) { ids[$0] }
            } else {
                present.insert(position)
                table.insert(position) { ids[$0] }
            }
            #expect(table.count == present.count)
        }
        for (position, id) in ids.enumerated() {
            let found = table.position(of: id) { ids[$0] == id }
            #expect(found == (present.contains(position) ? position : nil))
        }
    }

    @Test func theFirstPositionIsOneLikeTheOthers() {
        for start in 0..<64 {
            let ids = (start..<start + 32).map { AppID("app-\($0)") }
            var table = AppIDTable()
            for position in ids.indices { table.insert(position) { ids[$0] } }
            for removed in ids.indices.dropFirst() {
                table.remove(removed) { ids[$0] }
                #expect(table.position(of: ids[0]) { ids[$0] == ids[0] } == 0)
            }
        }
    }
}
