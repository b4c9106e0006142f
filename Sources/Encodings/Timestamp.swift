/// A moment in UTC, in milliseconds since 1970-01-01T00:00:00Z; years 0001…9999.
public struct Timestamp: Hashable, Sendable, Comparable {
    public let milliseconds: Int64

    /// Values beyond the years 0001…9999 are brought to the nearest end.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Timestamp.least), Timestamp.greatest)
    }

    /// Values beyond the years 0001…9999 are brought to the nearest end.
    public init(seconds: Int64) { self.init(milliseconds: min(max(seconds, -1_000_000_000_000), 1_000_000_000_000) * 1000) }

    /// Nil when a field is out of its range or the day is not in the month. `second` 60 is refused.
    public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, millisecond: Int = 0) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Timestamp.days(inMonth: month, of: year),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second), (0...999).contains(millisecond)
        else { return nil }
        let days = Timestamp.dayNumber(year: year, month: month, day: day)
        let seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        self.init(milliseconds: seconds * 1000 + Int64(millisecond))
    }

    /// RFC 3339, with `Z` or an offset, fraction optional (cut to milliseconds).
    public init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[range] {
                guard byte >= 48, byte <= 57 else { return nil }
                value = value * 10 + Int(byte - 48)
            }
            return value
        }
        func at(_ index: Int, _ characters: String) -> Bool { index < bytes.count && characters.utf8.contains(bytes[index]) }
        guard let year = number(0..<4), at(4, "-"), let month = number(5..<7), at(7, "-"), let day = number(8..<10), at(10, "Tt "),
            let hour = number(11..<13), at(13, ":"), let minute = number(14..<16), at(16, ":"), let second = number(17..<19)
        else { return nil }
        var index = 19
        var millisecond = 0
        if at(index, ".") {
            let start = index + 1
            index = start
            while index < bytes.count, bytes[index] >= 48, bytes[index] <= 57 {
                if index - start < 3 { millisecond = millisecond * 10 + Int(bytes[index] - 48) }
                index += 1
            }
            guard index > start else { return nil }
            for _ in min(index - start, 3)..<3 { millisecond *= 10 }
        }
        var offset = 0
        if at(index, "Zz") {
            index += 1
        } else if at(index, "+-") {
            guard let hours = number(index + 1..<index + 3), at(index + 3, ":"), let minutes = number(index + 4..<index + 6), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[index] == UInt8(ascii: "-") ? -1 : 1)
            index += 6
        } else {
            return nil
        }
        guard index == bytes.count,
            let local = Timestamp(year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: millisecond)
        else { return nil }
        self.init(milliseconds: local.milliseconds - Int64(offset) * 60_000)
    }

    /// `2026-12-01T02:22:04Z`: whole seconds, the rest cut off.
    public var rfc3339: String {
        let (days, secondOfDay) = Timestamp.split(milliseconds)
        let (year, month, day) = Timestamp.date(dayNumber: days)
        return "\(Timestamp.padded(year, 4))-\(Timestamp.padded(month, 2))-\(Timestamp.padded(day, 2))T"
            + "\(Timestamp.padded(secondOfDay / 3600, 2)):\(Timestamp.padded(secondOfDay / 60 % 60, 2)):\(Timestamp.padded(secondOfDay % 60, 2))Z"
    }

    public var year: Int { Timestamp.date(dayNumber: Timestamp.split(milliseconds).days).year }
    public var month: Int { Timestamp.date(dayNumber: Timestamp.split(milliseconds).days).month }
    public var day: Int { Timestamp.date(dayNumber: Timestamp.split(milliseconds).days).day }

    /// Beyond the years 0001…9999 the result is the nearest end, so that a far deadline never wraps round into the past.
    public func adding(seconds: Int64) -> Timestamp {
        // Both summands are below 10^15 in size once the seconds are bounded: no overflow.
        Timestamp(milliseconds: milliseconds + min(max(seconds, -1_000_000_000_000), 1_000_000_000_000) * 1000)
    }
    /// `self` − `other`, in seconds, rounded towards zero.
    public func seconds(since other: Timestamp) -> Int64 { (milliseconds - other.milliseconds) / 1000 }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    public static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static let least: Int64 = -62_135_596_800_000
    private static let greatest: Int64 = 253_402_300_799_999

    private static func split(_ milliseconds: Int64) -> (days: Int, secondOfDay: Int) {
        let seconds = milliseconds >= 0 ? milliseconds / 1000 : -((999 - milliseconds) / 1000)
        let days = seconds >= 0 ? seconds / 86_400 : -((86_399 - seconds) / 86_400)
        return (Int(days), Int(seconds - days * 86_400))
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar, counted in 400-year cycles that begin in March.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let cycle = shifted / 400
        let yearOfCycle = shifted - cycle * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return cycle * 146_097 + yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear - 719_468
    }

    private static func date(dayNumber: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = dayNumber + 719_468
        let cycle = shifted / 146_097
        let dayOfCycle = shifted - cycle * 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
