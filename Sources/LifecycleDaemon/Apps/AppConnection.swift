import AppChannel
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The daemon's end of an app's channel. It never blocks.
final class AppConnection {
    enum Event {
        /// The first message of the app, and the process that sent it; nil if the kernel does not tell.
        case hello(version: Int64, resume: SequenceNumber?, sender: ProcessID?)
        case message(MessageFromApp)
        /// A wrong line, its error, and the number of mistakes so far.
        case mistake(String, count: Int)
    }

    /// The number of mistakes after which the channel is closed.
    nonisolated static let mistakeLimit = 16
    /// The number of bytes that may wait for an app that does not read.
    private static let queueLimit = 1 << 16
    private static let readSize = 1 << 14
    private static let reading: IOEvents = [.readable, .peerClosed, .edgeTriggered]

    /// The bytes of one call of recv(2), for all channels.
    private static let inputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 1)

    private(set) var progress: ChannelProgress
    private let descriptor: Descriptor
    private var source: IOSource?
    private var lines = LineBuffer()
    private var queue: [UInt8] = []
    /// True while the previous daemon may have handled the next lines already.
    private var mayBeRepeated: Bool
    /// A Boolean value that indicates whether the daemon has closed the channel for what the app did.
    private(set) var isDismissed = false
    private var queuedSequence: UInt64?
    /// The number of bytes that were passed on and are still in the socket.
    private var handledCount = 0
    /// True while an accepted hello is not saved.
    private var hasNewHello = false
    /// True while the progress has changed for the next daemon.
    private var hasNewProgress = false
    /// A Boolean value that indicates whether the kernel tells the sender of each byte: of a channel that processes inherit, before
    /// its hello.
    private var identifiesSenders = false
    /// The process that sent the bytes that are handled; nil if the kernel does not tell.
    private var sender: ProcessID?

    /// - Parameter progress: The progress of the conversation, on a channel of the previous daemon or of a known process.
    init(
        _ descriptor: consuming Descriptor, of app: AppIndex, progress: ChannelProgress, events: Events
    ) throws(SystemdError) {
        self.descriptor = descriptor
        self.progress = progress
        mayBeRepeated = progress.hasSaidHello
        if !progress.hasSaidHello, progress.process == nil {
            identifiesSenders = SocketSenders.identify(true, on: self.descriptor.rawValue)
        }
        source = try events.watch(self.descriptor.rawValue, for: Self.reading) { .channel(app, $0) }
    }

    var number: Int32 { descriptor.rawValue }
    /// False when the app has closed the channel, made too many mistakes or does not read, or the daemon has closed it.
    var isOpen: Bool { source != nil }

    /// Returns the progress if it has changed since the last call.
    func takeNewProgress() -> ChannelProgress? {
        defer { hasNewProgress = false }
        return hasNewProgress ? progress : nil
    }

    /// Sends a message, now or as soon as the app reads. Closes the channel of an app that does not read.
    ///
    /// - Parameter sequence: The number of the callback, if it is one; it becomes part of the progress when it is written.
    func send(_ message: MessageToApp, sequence: UInt64? = nil) {
        guard source != nil, let bytes = try? message.encoded() else { return }
        guard queue.count + bytes.count <= Self.queueLimit else { return dismiss() }
        queue += bytes
        if let sequence { queuedSequence = sequence }
        write()
    }

    /// Accepts the hello.
    ///
    /// - Parameter sender: The process that sent it; nil if the kernel does not tell.
    func accept(version: Int64, from sender: ProcessID?) {
        progress.version = min(version, AppProtocol.version)
        if let sender { progress.process = sender }
        if identifiesSenders {
            _ = SocketSenders.identify(false, on: descriptor.rawValue)
            identifiesSenders = false
        }
        hasNewHello = true
    }

    /// Takes the lines that were passed on from the socket, and saves a hello among them: the core has handled them, and its
    /// state is saved. The next daemon would read them again, which does no harm, and ignore a hello that is saved.
    func confirm() {
        guard source != nil, handledCount > 0 else { return }
        if hasNewHello { hasNewProgress = true }
        _ = receive(handledCount, flags: 0)
        (hasNewHello, handledCount) = (false, 0)
    }

    /// Closes the channel. The app reads the end of the stream.
    func close() {
        guard let source else { return }
        source.cancel()
        self.source = nil
        // The other end may be open in several processes of the app; all of them read the end.
        shutdown(descriptor.rawValue, Int32(SHUT_RDWR))
    }

    /// Writes and reads what the socket is ready for.
    func proceed(_ events: IOEvents) {
        if events.contains(.writable) { write() }
        guard !events.isDisjoint(with: [.readable, .peerClosed, .hangUp, .error]) else { return }
        let isEnding = !events.isDisjoint(with: [.peerClosed, .hangUp, .error])
        let (hasRead, mayHaveMore) = read()
        // Bytes before the end of the stream without a line feed are ignored.
        if isEnding, !hasRead { return close() }
        // The watch is edge-triggered: there is no other event for an end, or for bytes, that are there already.
        if isEnding || mayHaveMore { source?.retrigger() }
    }

    /// Reads once, so that other apps have their turn. ``next()`` takes the lines, but they stay in the socket until ``confirm()``;
    /// an incomplete line stays there, too.
    ///
    /// - Returns: Whether there was a line, and whether more bytes than were looked at may have been there.
    func read() -> (hasRead: Bool, mayHaveMore: Bool) {
        // With senders, the kernel returns the bytes of one.
        let mayHaveOthers = identifiesSenders
        let bytes = receive(Self.readSize, flags: Int32(MSG_PEEK))
        guard !bytes.isEmpty else {
            if errno != EAGAIN && errno != EINTR { close() }
            return (false, false)
        }
        let count = completeCount(of: bytes)
        guard count > 0 else { return (false, false) }
        lines.append(bytes.prefix(count))
        handledCount = count
        return (true, mayHaveOthers || bytes.count == Self.readSize)
    }

    /// Returns the number of bytes in complete lines, or in a line that is too long.
    private func completeCount(of bytes: [UInt8]) -> Int {
        if !lines.remainder.isEmpty { return bytes.count }
        if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) { return end + 1 }
        return bytes.count >= AppProtocol.maximumLineLength ? bytes.count : 0
    }

    /// Receives bytes. If there are none, errno is the error, or 0 at the end of the stream.
    private func receive(_ size: Int, flags: Int32) -> [UInt8] {
        errno = 0
        let buffer = unsafe Self.inputBuffer
        let count =
            unsafe identifiesSenders
            ? receiveFromSender(buffer, size, flags)
            : recv(descriptor.rawValue, buffer.baseAddress, min(size, buffer.count), flags | Int32(MSG_DONTWAIT))
        if count == 0 { errno = 0 }
        return count > 0 ? unsafe Array(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
    }

    private func receiveFromSender(_ buffer: UnsafeMutableRawBufferPointer, _ size: Int, _ flags: Int32) -> Int {
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(size))
        let (count, process) = unsafe SocketSenders.receive(part, flags: flags, on: descriptor.rawValue)
        sender = process
        return count
    }

    /// Takes the next of the lines that were read; nil if there is none, or the channel has ended.
    func next() -> Event? {
        while source != nil, let entry = lines.next() {
            if let event = event(of: entry) { return event }
        }
        return nil
    }

    private func event(of entry: LineBuffer.Entry) -> Event? {
        do throws(LineError) {
            guard case .line(let line) = entry else { throw .tooLong }
            let message = try MessageFromApp(parsing: line)
            if case .hello(let version, let resume) = message { return hello(version, resume) }
            guard progress.hasSaidHello else {
                return mistake(Mistake(.outOfPlace, verb: message.line.verb), Self.outOfPlace)
            }
            mayBeRepeated = false
            return .message(message)
        } catch {
            let line: ArraySlice<UInt8>? = if case .line(let line) = entry { line } else { nil }
            return mistake(Mistake(error, in: line), error.description)
        }
    }

    /// Returns the event of the first message of an app, which comes once.
    private func hello(_ version: Int64, _ resume: SequenceNumber?) -> Event? {
        guard !progress.hasSaidHello else {
            return mayBeRepeated ? nil : mistake(Mistake(.outOfPlace, verb: "hello"), Self.outOfPlace)
        }
        guard version > 0 else {
            let error = LineError.unknownValue(key: "protocol")
            return mistake(Mistake(.unknownValue, verb: "hello", key: "protocol"), error.description)
        }
        return .hello(version: version, resume: resume, sender: sender)
    }

    private static let outOfPlace = "the line is out of place"

    private func mistake(_ mistake: Mistake, _ words: String) -> Event {
        progress.mistakes += 1
        send(.mistake(mistake))
        if progress.mistakes >= Self.mistakeLimit {
            send(.goodbye(reason: .tooManyMistakes))
            dismiss()
        }
        return .mistake(words, count: progress.mistakes)
    }

    private func dismiss() {
        isDismissed = true
        close()
    }

    /// Writes each line by itself. A stream socket takes such a write whole or not at all, so that a daemon that is killed
    /// leaves no incomplete line.
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
        recordSent()
    }

    private func recordSent() {
        guard queue.isEmpty, let sequence = queuedSequence.take() else { return }
        progress.toldSequence = sequence
        hasNewProgress = true
    }
}
