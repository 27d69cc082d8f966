import CSystemd

/// A seat, which is a set of screens and input devices that one user uses at a time (sd-login(3)).
public enum Seat {
    /// Returns the user of the session that the seat shows.
    ///
    /// - Parameter seat: The name of the seat, such as `seat0`.
    /// - Returns: The user's number; nil if the seat shows no session or logind is not there.
    public nonisolated static func activeUser(of seat: String) -> UInt32? {
        var user: uid_t = 0
        return unsafe sd_seat_get_active(seat, nil, &user) >= 0 ? user : nil
    }
}
