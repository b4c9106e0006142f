import AuditTrail
import Encodings
import Foundation
import Problems
import TestSupport
import Testing

@Suite struct RecordedHeadTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func record(acceptingOtherHistory: Bool = false) throws -> RecordedHead? {
        try fixture.trail.recordHead(
            to: fixture.headFile, at: Fixture.beginning, in: fixture.database, acceptingOtherHistory: acceptingOtherHistory)
    }

    @Test func `is written, read back, and moves on with the trail`() throws {
        #expect(try fixture.trail.recordedHead(in: fixture.headFile) == nil)
        #expect(try record() == nil)
        #expect(try fixture.trail.recordedHead(in: fixture.headFile) == nil)
        for end in [10, 20] {
            let last = try fixture.append(end - 10..<end).last
            let recorded = try #require(try record())
            #expect(recorded.head.sequence == last?.sequence && recorded.head.mac == last?.mac && recorded.recordedAt == Fixture.beginning)
            #expect(try fixture.trail.recordedHead(in: fixture.headFile) == recorded)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path).filter { !$0.hasPrefix("coster.sqlite") } == ["audit-head.json"])
    }

    @Test func `evidence of a cut tail is not written over, unless a restore was meant`() throws {
        try fixture.append(0..<20)
        let recorded = try record()
        try fixture.tamper(["DELETE FROM audit_entries WHERE sequence > 15"])
        #expect(throws: Problem.audit(.tailMissing)) { try record() }
        #expect(try fixture.trail.recordedHead(in: fixture.headFile) == recorded)
        try fixture.append(20..<30)
        #expect(throws: Problem.audit(.headDiffers)) { try record() }
        #expect(try fixture.trail.recordedHead(in: fixture.headFile) == recorded)
        #expect(try record(acceptingOtherHistory: true)?.head.sequence == 25)
        #expect(try record()?.head.sequence == 25)
    }

    static let forgeries: [(from: String, to: String)] = [
        (#""sequence":20"#, #""sequence":15"#), (#""recorded_at_milliseconds":1"#, #""recorded_at_milliseconds":2"#), (#""mac":""#, #""mac":"00"#),
        (#""authentication":""#, #""authentication":"00"#),
    ]

    @Test(arguments: forgeries) func `a changed file is refused`(forgery: (from: String, to: String)) throws {
        try fixture.append(0..<20)
        _ = try record()
        let text = try String(contentsOf: fixture.headFile, encoding: .utf8)
        var changed = text.replacing(forgery.from, with: forgery.to)
        if forgery.to.hasSuffix("00") {
            // Keep the length of the hex text.
            changed = text.replacing(try Regex("\(forgery.from)[0-9a-f]{2}"), with: forgery.to)
        }
        #expect(changed != text)
        try Data(changed.utf8).write(to: fixture.headFile)
        #expect(throws: Problem.audit(.headForged)) { try fixture.trail.recordedHead(in: fixture.headFile) }
        #expect(throws: Problem.audit(.headForged)) { try record() }
    }

    @Test func `a file of another installation is refused`() throws {
        try fixture.append(0..<20)
        _ = try record()
        #expect(throws: Problem.audit(.headForged)) { try Fixture.trail(key: 9).recordedHead(in: fixture.headFile) }
    }

    @Test(arguments: ["", "{}", "[]", "no", #"{"sequence":1}"#, #"{"sequence":1,"sequence":1,"mac":"","recorded_at_milliseconds":1,"authentication":""}"#])
    func `a damaged file is unreadable, not absent`(text: String) throws {
        try Data(text.utf8).write(to: fixture.headFile)
        #expect(throws: Problem.audit(.headUnreadable)) { try fixture.trail.recordedHead(in: fixture.headFile) }
    }

    @Test func `a place that can't be written is told`() throws {
        try fixture.append(0..<20)
        let nowhere = URL(filePath: fixture.folder.file("none/audit-head.json"))
        #expect(throws: Problem.audit(.headNotWritten)) {
            try fixture.trail.recordHead(to: nowhere, at: Fixture.beginning, in: fixture.database)
        }
    }
}
