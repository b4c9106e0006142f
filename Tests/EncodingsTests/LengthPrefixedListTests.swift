import Encodings
import Testing

@Suite struct LengthPrefixedListTests {
    private func list(_ fill: (inout LengthPrefixedList) -> Void) -> [UInt8] {
        var list = LengthPrefixedList("t")
        fill(&list)
        return list.bytes
    }

    @Test func `is kind, length and content, field by field`() {
        let bytes = list {
            $0.append("é")
            $0.append([0xff])
            $0.append(Int64(258))
            $0.append(nil as String?)
        }
        #expect(
            bytes == [2, 0, 0, 0, 1, 0x74] + [2, 0, 0, 0, 2, 0xc3, 0xa9] + [1, 0, 0, 0, 1, 0xff] + [3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1, 2] + [0, 0, 0, 0, 0])
    }

    @Test func `different lists give different bytes`() {
        let lists = [
            list {
                $0.append("ab"); $0.append("c")
            },
            list {
                $0.append("a"); $0.append("bc")
            },
            list { $0.append("abc") },
            list {
                $0.append("abc"); $0.append("")
            },
            list {
                $0.append("abc"); $0.append(nil as String?)
            },
            list { $0.append(Array("abc".utf8)) },
            list { $0.append(Int64(0)) },
            list { $0.append([UInt8](repeating: 0, count: 8)) },
            list { $0.append(Int64(-1)) },
            list { $0.append(nil as [UInt8]?) },
            list { $0.append([] as [UInt8]) },
            list { _ in },
        ]
        #expect(Set(lists).count == lists.count)
        #expect(list { $0.append(nil as String?) } == list { $0.append(nil as Int64?) }, "absent is absent, whatever it would have been")
    }

    @Test func `digests and times are bytes and an integer`() throws {
        let digest = try #require(Digest256([UInt8](repeating: 9, count: 32)))
        #expect(list { $0.append(digest) } == list { $0.append(digest.bytes) })
        #expect(list { $0.append(Timestamp(milliseconds: 5)) } == list { $0.append(Int64(5)) })
    }
}
