import Problems

/// The decoder as a fuzzer wants it: bytes and a seed in, a verdict out.
public enum RequestDecoderProbe {
    /// What the decoder makes of `bytes`, one line an event, given in chunks whose sizes follow from `seed`; nil gives all at once.
    public static func outcome(of bytes: [UInt8], seed: UInt64?, limits: RequestDecoder.Limits = .init(), maximumBodyBytes: Int = 4096) -> [String] {
        var decoder = RequestDecoder(limits: limits)
        var lines: [String] = []
        var state = seed ?? 0
        var start = 0
        while start < bytes.count {
            var size = bytes.count - start
            if seed != nil {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                size = min(size, 1 + Int(state >> 33) % (state >> 62 == 0 ? 1 : 40))
            }
            let chunk = Array(bytes[start..<start + size])
            var position = 0
            while let event = decoder.next(chunk.span, at: &position) {
                switch event {
                case .head(let head):
                    let headers = head.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
                    lines.append("head \(head.method) \(head.path) ?\(head.query ?? "") \(head.contentLength ?? -1) \(head.keepsAlive) \(headers)")
                    decoder.maximumBodyBytes = maximumBodyBytes
                case .body(let body): lines.append("body \(body)")
                case .refused(let problem): lines.append("refused \(problem.code) \(problem.title)")
                }
            }
            start += size
        }
        lines.append("within request: \(decoder.isWithinRequest)")
        return lines
    }

    /// Whether `bytes` mean the same however they are split. A fuzzer stops where this is false.
    public static func isIndependentOfChunks(_ bytes: [UInt8], seed: UInt64) -> Bool {
        outcome(of: bytes, seed: seed) == outcome(of: bytes, seed: nil)
    }
}
