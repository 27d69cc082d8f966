public import AppChannel

extension Session {
    /// Asks for time in the background. The name is for people, who see the first 128 bytes of it.
    public mutating func beginTask(name: String) -> AssertionID {
        begin(.task, name: name.shortened(to: 128))
    }

    /// Ends a task. One that is not there, or was ended before, is left alone.
    public mutating func endTask(_ id: AssertionID) {
        end(id, .task)
    }

    /// Asks to be held in the background for as long as something of a declared kind lasts.
    public mutating func beginActivity(mode: String) -> AssertionID {
        begin(.activity, name: mode.shortened(to: 128))
    }

    /// Ends an activity. One that is not there, or was ended before, is left alone.
    public mutating func endActivity(_ id: AssertionID) {
        end(id, .activity)
    }

    private mutating func begin(_ kind: AssertionTable.Kind, name: String) -> AssertionID {
        let (id, message) = assertions.begin(kind, name: name)
        if !isManaged {
            _ = assertions.grant(id)
        } else if output.count > Self.outputLimit || (isLost && assertions.count > Self.waitingLimit) {
            refuse(id, reason: .tooManyTasks)
        } else {
            send(message)
        }
        return id
    }

    private mutating func end(_ id: AssertionID, _ kind: AssertionTable.Kind) {
        if isLost {
            assertions.endUnheard(id, kind)
        } else if let message = assertions.end(id, kind) {
            send(message)
        }
    }

    mutating func refuse(_ id: AssertionID, reason: RefusalReason) {
        if assertions.refuse(id) { events.append(.refused(id, reason: reason)) }
    }
}

extension String {
    /// As much of the text as fits so many bytes of UTF-8, without the NULs that a line has no place for.
    fileprivate func shortened(to limit: Int) -> String {
        var scalars = UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars where scalar.value != 0 {
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
