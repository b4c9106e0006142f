import HTTPServer
import Testing

@Suite struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (1_796_091_724, "Tue, 01 Dec 2026 02:22:04 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        ] as [(Int64, String)])
    func `writes an IMF-fixdate`(second: Int64, text: String) {
        var date = HTTPDate(secondsSince1970: 1)
        date.update(secondsSince1970: second)
        #expect(String(decoding: date.text, as: UTF8.self) == text)
    }
}
