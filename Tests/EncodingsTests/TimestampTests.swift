import Encodings
import Foundation
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1), ("2026-12-01T02:22:04Z", 1_796_091_724), ("2000-02-29T12:00:00Z", 951_825_600),
        ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799), ("1900-03-01T00:00:00Z", -2_203_891_200),
    ])
    func `writes and reads RFC 3339`(_ text: String, _ seconds: Int64) {
        #expect(Timestamp(seconds: seconds).rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == Timestamp(seconds: seconds))
    }

    @Test(arguments: [
        ("2026-11-01T12:00:00+00:00", "2026-11-01T12:00:00Z"), ("2026-11-01T12:00:00+05:30", "2026-11-01T06:30:00Z"),
        ("2026-11-01T00:30:00-01:00", "2026-11-01T01:30:00Z"), ("2026-11-01t12:00:00z", "2026-11-01T12:00:00Z"),
        ("2026-11-01 12:00:00Z", "2026-11-01T12:00:00Z"), ("2026-11-01T12:00:00.9999999Z", "2026-11-01T12:00:00Z"),
    ])
    func `takes offsets, lower case, a blank and fractions`(_ text: String, _ same: String) {
        #expect(Timestamp(rfc3339: text)?.rfc3339 == same)
    }

    @Test(arguments: [(".1", 100), (".12", 120), (".123", 123), (".1239", 123), (".000", 0)])
    func `cuts fractions to milliseconds`(_ fraction: String, _ milliseconds: Int64) {
        #expect(Timestamp(rfc3339: "1970-01-01T00:00:00\(fraction)Z")?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-11-01", "2026-11-01T12:00:00", "2026-11-01T12:00Z", "2026-13-01T12:00:00Z", "2026-02-29T12:00:00Z", "2026-11-31T00:00:00Z",
        "2026-11-01T24:00:00Z", "2026-11-01T12:60:00Z", "2026-11-01T12:00:60Z", "2026-11-01T12:00:00.Z", "2026-11-01T12:00:00+24:00",
        "2026-11-01T12:00:00+0530", "2026-11-01T12:00:00ZZ", "0000-01-01T00:00:00Z", "2026-11-0aT12:00:00Z", "1900-02-29T00:00:00Z", "-026-11-01T12:00:00Z",
        "2026-11-01T12:00:00+05:60", "2026-11-00T12:00:00Z", "2026-00-01T12:00:00Z",
    ])
    func `refuses what is no date`(_ text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `agrees with Foundation's calendar`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for seconds in stride(from: Int64(-5_000_000_000), through: 10_000_000_000, by: 86_400 * 97 + 12_345) {
            let parts = calendar.dateComponents([.year, .month, .day], from: Date(timeIntervalSince1970: Double(seconds)))
            let time = Timestamp(seconds: seconds)
            #expect([time.year, time.month, time.day] == [parts.year, parts.month, parts.day])
            #expect(Timestamp(rfc3339: time.rfc3339) == time)
        }
    }

    @Test func `counts leap days as the Gregorian calendar does`() {
        #expect([1900, 2000, 2023, 2024, 2100].map { Timestamp.days(inMonth: 2, of: $0) } == [28, 29, 28, 29, 28])
        #expect((1...12).map { Timestamp.days(inMonth: $0, of: 2025) } == [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    }

    @Test func `orders, adds and subtracts`() {
        let start = Timestamp(milliseconds: 1500)
        #expect(start < start.adding(seconds: 1))
        #expect(start.adding(seconds: 60).seconds(since: start) == 60)
        #expect(start.seconds(since: start.adding(seconds: 60)) == -60)
        #expect(Timestamp(milliseconds: 1999).seconds(since: Timestamp(milliseconds: 0)) == 1)
    }

    @Test func `stays within the years 1 to 9999`() {
        #expect(Timestamp(milliseconds: .max).rfc3339 == "9999-12-31T23:59:59Z")
        #expect(Timestamp(milliseconds: .min).rfc3339 == "0001-01-01T00:00:00Z")
        #expect(Timestamp(seconds: .max) == Timestamp(milliseconds: .max))
        #expect(Timestamp(seconds: .min) == Timestamp(milliseconds: .min))
        #expect(Timestamp(seconds: 0).adding(seconds: .max) == Timestamp(milliseconds: .max))
        #expect(Timestamp(seconds: 0).adding(seconds: .min) == Timestamp(milliseconds: .min))
    }
}
