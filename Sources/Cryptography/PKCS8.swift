internal import Problems

/// Where the parts of a private key lie in its PKCS#8 encoding (RFC 5958, RFC 5915, RFC 8017 A.1.2). Strict DER.
enum PKCS8 {
    /// `scalar` at most 32 bytes, big-endian; `point` as encoded beside it, if it is.
    case p256(scalar: Range<Int>, point: Range<Int>?)
    /// Magnitudes of n, e, d, p, q, dP, dQ, qInv, in this order.
    case rsa([Range<Int>])

    /// - Throws: `cryptography.private_key_invalid` or, for other kinds of key, `cryptography.private_key_unsupported`.
    static func read(_ bytes: [UInt8]) throws(Problem) -> PKCS8 {
        do {
            return try walk(bytes)
        } catch {
            switch error {
            case .unsupported: throw .cryptography(.privateKeyUnsupported)
            case .malformed(let error): throw .cryptography(.privateKeyInvalid, underlying: "PKCS#8: \(error)")
            }
        }
    }

    private enum Refusal: Error {
        case unsupported
        case malformed(DERError)
    }

    private static func walk(_ bytes: [UInt8]) throws(Refusal) -> PKCS8 {
        do {
            var outer = DERReader(bytes)
            var info = try outer.enter(.sequence)
            try outer.finish()
            guard try info.smallInteger() <= 1 else { throw DERError(.value, at: 0) }
            var algorithm = try info.enter(.sequence)
            let kind = try algorithm.objectIdentifier()
            let content = try info.octetString()
            _ = try info.nextIfPresent(.context(0))  // attributes
            _ = try info.nextIfPresent(.contextPrimitive(1))  // public key
            try info.finish()
            var key = DERReader(bytes, in: content)
            var body = try key.enter(.sequence)
            try key.finish()
            switch kind {
            case .ecPublicKey:
                guard algorithm.nextTag == .objectIdentifier, try algorithm.objectIdentifier() == .p256 else { return try unsupported() }
                try algorithm.finish()
                return try ecKey(&body)
            case .rsaEncryption:
                guard try body.smallInteger() == 0 else { return try unsupported() }  // 1: more than two primes
                var parts: [Range<Int>] = []
                for _ in 0..<8 { parts.append(try body.unsignedInteger()) }
                try body.finish()
                return .rsa(parts)
            default:
                return try unsupported()
            }
        } catch let error as DERError {
            throw .malformed(error)
        } catch {
            throw .unsupported
        }
    }

    private static func unsupported() throws(Refusal) -> PKCS8 { throw .unsupported }

    private static func ecKey(_ body: inout DERReader) throws(DERError) -> PKCS8 {
        guard try body.smallInteger() == 1 else { throw DERError(.value, at: body.position) }
        let scalar = try body.octetString()
        guard (1...32).contains(scalar.count) else { throw DERError(.value, at: scalar.lowerBound) }
        if var curve = try body.nextIfPresent(.context(0)).map({ (element) throws(DERError) in try body.inside(element) }) {
            guard try curve.objectIdentifier() == .p256 else { throw DERError(.value, at: curve.position) }
        }
        var point: Range<Int>?
        if var field = try body.nextIfPresent(.context(1)).map({ (element) throws(DERError) in try body.inside(element) }) {
            point = try field.bitStringOfBytes()
        }
        try body.finish()
        return .p256(scalar: scalar, point: point)
    }
}
