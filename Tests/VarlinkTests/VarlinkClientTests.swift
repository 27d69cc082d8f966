import Glibc
import Testing

@testable import Varlink

@Suite struct VarlinkClientTests {
    private let patience: Duration = .seconds(60)

    @Test func callsAreAnswered() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience)
        for number in 0..<100 {
            let reply = try client.call(
                "org.example.Echo", ["text": "\(number) é\u{0}"], as: [String: String].self, timeout: patience)
            #expect(reply == ["text": "\(number) é\u{0}"])
        }
    }

    @Test func aLongCallAndReplyGoThrough() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience)
        let text = String(repeating: "x", count: 1_000_000)
        let reply = try client.call("org.example.Echo", ["text": text], as: [String: String].self, timeout: patience)
        #expect(reply["text"] == text)
    }

    @Test func streamsAreRead() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience)
        try client.subscribe("org.example.Count", ["end": Int64(50)], timeout: patience)
        var numbers: [Int64] = []
        while let reply = try client.next(as: [String: Int64].self, timeout: patience) { numbers += reply.values }
        #expect(numbers == Array(0...50))
    }

    @Test func aReplyCanBeWaitedForAgain() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience)
        try client.begin("org.example.Echo", ["text": "x"], timeout: patience)
        #expect(try client.next(as: [String: String].self, timeout: patience) == ["text": "x"])
        #expect(try client.next(as: [String: String].self, timeout: patience) == nil)
        try client.begin("org.example.Silent", NoParameters(), timeout: patience)
        for _ in 0..<2 {
            var error: ClientError?
            do throws(ClientError) {
                _ = try client.next(as: NoParameters.self, timeout: .milliseconds(5))
            } catch let caught {
                error = caught
            }
            guard case .timedOut = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func anOverrunReachesTheReader() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience)
        try client.subscribe("org.example.Flood", NoParameters(), timeout: patience)
        var error: ClientError?
        do throws(ClientError) {
            while try client.next(as: [String: String].self, timeout: patience) != nil {}
        } catch let caught {
            error = caught
        }
        guard case .remote(let remote) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(remote.name == "org.example.Overrun")
    }

    @Test func errorsCarryTheirParameters() throws {
        let server = try TestServer()
        guard case .remote(let error) = failure(of: "Refuse", server) else {
            Issue.record("not a remote error")
            return
        }
        #expect(error.name == "org.example.No")
        #expect(try error.parameters() == ["why": "because"])
        #expect(throws: JSONError.self) { try error.parameters(as: [String: Int64].self) }
    }

    @Test func silenceTimesOut() throws {
        let server = try TestServer()
        guard case .timedOut = failure(of: "Silent", server, timeout: .milliseconds(20)) else {
            Issue.record("no timeout")
            return
        }
    }

    @Test func aHangupIsNoticed() throws {
        let server = try TestServer()
        guard case .closed = failure(of: "Hangup", server) else {
            Issue.record("no hangup")
            return
        }
    }

    @Test func garbageIsAViolation() throws {
        let server = try TestServer()
        guard case .violation(.malformed) = failure(of: "Garbage", server) else {
            Issue.record("no violation")
            return
        }
    }

    @Test func aReplyOfAnotherTypeIsUnexpected() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience)
        var error: ClientError?
        do throws(ClientError) {
            _ = try client.call("org.example.Echo", ["a": "b"], as: [String: Int64].self, timeout: patience)
        } catch let caught {
            error = caught
        }
        guard case .unexpectedReply = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aCallThatIsTooLongIsNotSent() throws {
        let server = try TestServer()
        var client = try VarlinkClient(path: server.path, timeout: patience, longestCall: 100)
        var error: ClientError?
        do throws(ClientError) {
            let text = String(repeating: "x", count: 100)
            _ = try client.call("org.example.Echo", ["t": text], as: [String: String].self, timeout: patience)
        } catch let caught {
            error = caught
        }
        guard case .callTooLong(limit: 100) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            try client.call("org.example.Echo", ["t": "x"], as: [String: String].self, timeout: patience) == ["t": "x"])
    }

    @Test(arguments: [
        ("/nonexistent/socket", ENOENT), ("/dev/null", ECONNREFUSED), ("", ENAMETOOLONG),
        ("/" + String(repeating: "x", count: 200), ENAMETOOLONG),
    ])
    func connectionToASocketWithoutListenerFails(_ path: String, _ expected: Int32) {
        do throws(ClientError) {
            _ = try VarlinkClient(path: path, timeout: patience)
            Issue.record("connected")
        } catch {
            guard case .cannotConnect(path, expected) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    private func failure(of method: String, _ server: TestServer, timeout: Duration = .seconds(60)) -> ClientError? {
        do throws(ClientError) {
            var client = try VarlinkClient(path: server.path, timeout: patience)
            _ = try client.call(
                "org.example.\(method)", NoParameters(), as: NoParameters.self, timeout: timeout)
            return nil
        } catch {
            return error
        }
    }
}
