import AppChannel
import Glibc
import Processes
import Systemd

/// The daemon's end of one app's channel. It reads and writes what the socket takes, and never waits.
final class AppConnection {
    /// What came of reading, in the order in which it came.
    enum Event {
        case message(MessageFromApp)
        /// A line that is none or is out of place, in what way, and how many there have been.
        case mistake(String, count: Int)
        /// Nothing more will come: the app closed it, made too many mistakes, or does not read.
        case closed
        /// What a successor would have to know has changed.
        case changed
    }

    /// How many mistakes an app may make.
    static let mistakeLimit = 16
    /// How many bytes may wait for an app that does not read.
    private static let queueLimit = 1 << 16
    private static let readSize = 1 << 14
    private static let reading: IOEvents = [.readable, .peerClosed, .edgeTriggered]

    /// What a successor of the daemon has to know.
    private(set) var state: ChannelState
    private let descriptor: Descriptor
    private let report: (Event) -> Void
    private var source: IOSource?
    private var lines = LineBuffer()
    private var queue: [UInt8] = []
    /// Whether what is read may be what the daemon before had read.
    private var mayBeRepeated: Bool
    /// A Boolean value that indicates whether the daemon has closed the channel for what the app did.
    private(set) var isDismissed = false
    /// The number of the last callback in the queue.
    private var queuedSequence: UInt64?

    /// - Parameter state: How far the conversation is, on a channel that another daemon has had.
    init(
        _ descriptor: consuming Descriptor, state: ChannelState = ChannelState(), loop: EventLoop,
        report: @escaping (Event) -> Void
    ) throws(SystemdError) {
        self.descriptor = descriptor
        self.state = state
        mayBeRepeated = state.hasSaidHello
        self.report = report
        source = try loop.watch(descriptor: self.descriptor.rawValue, events: Self.reading) { [weak self] events in
            self?.ready(events)
        }
    }

    /// The number of the daemon's end, for keeping it open elsewhere.
    var number: Int32 { descriptor.rawValue }

    /// Sends a message, now or as soon as the app reads. One that reads nothing any more loses its channel.
    ///
    /// - Parameter sequence: The number of the callback, if it is one; whether the app got it is part of the state.
    func send(_ message: MessageToApp, sequence: UInt64? = nil) {
        guard source != nil, let bytes = try? message.encoded() else { return }
        guard queue.count + bytes.count <= Self.queueLimit else { return dismiss() }
        queue += bytes
        if let sequence { queuedSequence = sequence }
        write()
    }

    /// Closes the channel; the app hears of it by reading the end.
    func close() {
        guard let source else { return }
        source.cancel()
        self.source = nil
        // The other end may be open in several processes of the app: all of them are to read the end.
        shutdown(descriptor.rawValue, Int32(SHUT_RDWR))
        report(.closed)
    }

    private func ready(_ events: IOEvents) {
        if events.contains(.writable) { write() }
        guard !events.isDisjoint(with: [.readable, .peerClosed, .hangUp, .error]) else { return }
        // What comes after the end of the stream, or before it without a line feed, is nothing.
        if !read(), !events.isDisjoint(with: [.peerClosed, .hangUp, .error]) { close() }
    }

    /// Reads once, so that an app that talks without end leaves time for the others.
    ///
    /// Lines are taken out of the socket when they have been dealt with, and so written down: if the daemon is killed in
    /// between, its successor reads them again, which does no harm. The beginning of a line stays in the socket.
    ///
    /// - Returns: Whether there may be more to read.
    private func read() -> Bool {
        let bytes = receive(Self.readSize, flags: Int32(MSG_PEEK))
        guard !bytes.isEmpty else {
            if errno != EAGAIN && errno != EINTR { close() }
            return false
        }
        let count = completeCount(of: bytes)
        guard count > 0 else { return false }
        lines.append(bytes.prefix(count))
        while source != nil, let entry = lines.next() { take(entry) }
        _ = receive(count, flags: 0)
        // There will be no other event for what is there already.
        source?.retrigger()
        return true
    }

    /// How many bytes belong to lines that are there in full, or are too long to be any.
    private func completeCount(of bytes: [UInt8]) -> Int {
        if !lines.remainder.isEmpty { return bytes.count }
        if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) { return end + 1 }
        return bytes.count >= AppProtocol.maximumLineLength ? bytes.count : 0
    }

    /// What is there; at the end of the stream, or when nothing can be read, nothing, and errno tells, 0 for the end.
    private func receive(_ size: Int, flags: Int32) -> [UInt8] {
        var count = 0
        errno = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            unsafe count = recv(descriptor.rawValue, buffer.baseAddress, size, flags | Int32(MSG_DONTWAIT))
            filled = max(0, count)
        }
        if count == 0 { errno = 0 }
        return bytes
    }

    private func take(_ entry: LineBuffer.Entry) {
        do throws(LineError) {
            guard case .line(let line) = entry else { throw .tooLong }
            let message = try MessageFromApp(parsing: line)
            if case .hello(let version, _) = message { return takeHello(message, version: version) }
            guard state.hasSaidHello else {
                return countMistake(Mistake(.outOfPlace, verb: message.line.verb), Self.outOfPlace)
            }
            mayBeRepeated = false
            report(.message(message))
        } catch {
            let line: ArraySlice<UInt8>? = if case .line(let line) = entry { line } else { nil }
            countMistake(Mistake(error, in: line), error.description)
        }
    }

    /// An app says hello first, and once.
    private func takeHello(_ message: MessageFromApp, version: Int64) {
        guard !state.hasSaidHello else {
            if !mayBeRepeated { countMistake(Mistake(.outOfPlace, verb: "hello"), Self.outOfPlace) }
            return
        }
        guard version > 0 else {
            let error = LineError.unknownValue(key: "protocol")
            return countMistake(Mistake(.unknownValue, verb: "hello", key: "protocol"), error.description)
        }
        report(.message(message))
        state.version = min(version, AppProtocol.version)
        report(.changed)
    }

    private static let outOfPlace = "The line is out of place."

    /// Tells the app what is wrong with its line, and closes the channel after too many of them.
    private func countMistake(_ mistake: Mistake, _ words: String) {
        state.mistakes += 1
        report(.mistake(words, count: state.mistakes))
        send(.mistake(mistake))
        guard state.mistakes >= Self.mistakeLimit else { return }
        send(.goodbye(reason: .tooManyMistakes))
        dismiss()
    }

    /// Closes the channel for what the app did.
    private func dismiss() {
        isDismissed = true
        close()
    }

    /// Each line is a write of its own, which a stream socket takes whole or not at all: a daemon that is killed leaves no
    /// half a line behind.
    private func write() {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        while let end = queue.firstIndex(of: UInt8(ascii: "\n")) {
            let count = unsafe queue.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor.rawValue, bytes.baseAddress, end + 1, flags)
            }
            if count > 0 {
                queue.removeFirst(count)
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                return close()
            }
        }
        source?.events = queue.isEmpty ? Self.reading : Self.reading.union(.writable)
        noteSent()
    }

    private func noteSent() {
        guard queue.isEmpty, let sequence = queuedSequence.take() else { return }
        state.toldSequence = sequence
        report(.changed)
    }
}
