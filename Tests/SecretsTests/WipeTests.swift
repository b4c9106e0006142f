import Secrets
import Testing

@Suite struct WipeTests {
    @Test func `overwrites in place`() {
        var bytes: [UInt8] = [1, 2, 3]
        wipe(&bytes)
        #expect(bytes == [0, 0, 0])
        var none: [UInt8] = []
        wipe(&none)
        #expect(none.isEmpty)
    }

    @Test func `a secret's memory is zero before it is given back`() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { unsafe memory.deallocate() }
        unsafe memory.copyBytes(from: [UInt8](repeating: 0xa5, count: 64))
        unsafe wipe(memory)
        #expect(unsafe memory.allSatisfy { $0 == 0 })
        unsafe wipe(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    @Test(
        arguments: [
            ([], [], true), ([1], [1], true), ([1], [2], false), ([1], [1, 1], false), ([1, 2, 3], [1, 2, 3], true), ([0, 2, 3], [1, 2, 3], false),
            ([1, 2, 0x80], [1, 2, 0], false),
        ] as [([UInt8], [UInt8], Bool)])
    func `compares the whole of both`(_ left: [UInt8], _ right: [UInt8], _ equal: Bool) {
        #expect(constantTimeEqual(left, right) == equal)
        #expect(constantTimeEqual(right, left) == equal)
    }
}
