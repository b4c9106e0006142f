import Encodings

/// The `Date` header's text, made anew once a second.
public struct HTTPDate: Sendable {
    /// IMF-fixdate of RFC 9110 §5.6.7, as ASCII: `Tue, 01 Dec 2026 02:22:04 GMT`.
    public private(set) var text: [UInt8] = []
    private var second: Int64 = .min

    public init(secondsSince1970 second: Int64) { update(secondsSince1970: second) }

    public mutating func update(secondsSince1970 second: Int64) {
        guard second != self.second else { return }
        self.second = second
        let time = Timestamp(seconds: second)
        let secondOfDay = Int(((second % 86_400) + 86_400) % 86_400)
        let dayNumber = (second - Int64(secondOfDay)) / 86_400
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(((dayNumber % 7) + 7) % 7)]
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][time.month - 1]
        let clock = "\(padded(secondOfDay / 3600)):\(padded(secondOfDay / 60 % 60)):\(padded(secondOfDay % 60))"
        text = Array("\(weekday), \(padded(time.day)) \(month) \(padded(time.year / 100))\(padded(time.year % 100)) \(clock) GMT".utf8)
    }

    private func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
