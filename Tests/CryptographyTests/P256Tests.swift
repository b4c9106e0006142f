import Encodings
import Problems
import Secrets
import TestSupport
import Testing

@testable import Cryptography

struct P256Tests {
    @Test func `keys come back from PKCS#8`() throws {
        let key = try P256.AgreementKey.generate()
        let pkcs8 = try key.pkcs8()
        #expect(pkcs8.count == 138)
        let again = try P256.AgreementKey(pkcs8: pkcs8)
        #expect(again.publicKey == key.publicKey)
        #expect(try again.pkcs8() == pkcs8)
        #expect(try P256.PublicKey(spki: key.publicKey.spki) == key.publicKey)
        #expect(try P256.SigningKey(pkcs8: pkcs8).publicKey == key.publicKey)
    }

    @Test func `OpenSSL reads what we write`() throws {
        let key = try P256.AgreementKey.generate()
        let ours = try key.pkcs8()
        #expect(try key.pair.key.pkcs8() == ours)
        #expect(try key.pair.key.spki() == key.publicKey.spki)
    }

    /// RFC 5915: the point and the curve inside are optional, a short scalar is padded, a wrong point is not believed.
    @Test func `other writings of one key`() throws {
        let scalar = [UInt8](repeating: 0, count: 31) + [5]
        let full = try P256.AgreementKey(pkcs8: pkcs8(scalar: scalar))
        let point = Array(full.publicKey.point)
        #expect(try P256.AgreementKey(pkcs8: pkcs8(scalar: [5])).publicKey == full.publicKey)
        #expect(try P256.AgreementKey(pkcs8: pkcs8(scalar: scalar, point: point, innerCurve: .p256)).publicKey == full.publicKey)
        #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try P256.AgreementKey(pkcs8: pkcs8(scalar: scalar, innerCurve: .p384)) }
        for index in point.indices {
            var wrong = point
            wrong[index] ^= 1
            #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try P256.AgreementKey(pkcs8: pkcs8(scalar: scalar, point: wrong)) }
        }
    }

    @Test func `scalars out of range are refused`() throws {
        let order = try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        var less = order
        less[31] -= 1
        _ = try P256.AgreementKey(pkcs8: pkcs8(scalar: less))
        for scalar in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xff, count: 32), [UInt8](repeating: 1, count: 33), []] {
            #expect(throws: Problem.cryptography(.privateKeyInvalid)) { try P256.AgreementKey(pkcs8: pkcs8(scalar: scalar)) }
        }
    }

    /// What lets the agreement leave OpenSSL's second check out: no value of `PublicKey` is off the curve, infinite or in another form.
    @Test func `no public key is off the curve, infinite, compressed, hybrid, elsewhere or followed by bytes`() throws {
        let key = try P256.AgreementKey.generate().publicKey
        let header = Array(key.spki.prefix(26))
        let (x, y) = (key.point.dropFirst().prefix(32), key.point.suffix(32))
        let parity = (y.last ?? 0) & 1
        var bad: [[UInt8]] = [[], header, header + [0], header + [4] + x, header + key.point + [0], Array(key.spki.dropLast())]
        bad.append(header + [6 | parity] + x + y)  // hybrid
        bad.append(header + [2 | parity] + x + y)
        bad.append(header + [0] + x + y)
        bad.append(compressed(header, 2 | parity, x))
        bad.append([0x30, 0x19] + header[2..<24] + [0x02, 0x00, 0x00])  // infinity
        bad.append(header + [4] + [UInt8](repeating: 0, count: 64))
        bad.append(header + [4] + [UInt8](repeating: 0xff, count: 64))
        // A coordinate not reduced: p instead of 0 (x = 0 is on the curve).
        let p = try hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
        let y0 = try hex("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
        _ = try P256.PublicKey(spki: header + [4] + [UInt8](repeating: 0, count: 32) + y0)
        bad.append(header + [4] + p + y0)
        for index in key.spki.indices {
            for bit in 0..<8 {
                var changed = key.spki
                changed[index] ^= 1 << UInt8(bit)
                bad.append(changed)
            }
        }
        for spki in bad { #expect(throws: Problem.cryptography(.publicKeyInvalid)) { try P256.PublicKey(spki: spki) } }
        #expect(bad.count == 14 + 91 * 8)
    }

    private func compressed(_ header: [UInt8], _ form: UInt8, _ x: ArraySlice<UInt8>) -> [UInt8] {
        [0x30, 0x39] + Array(header[2..<24]) + [0x22, 0x00, form] + x
    }

    @Test func `Z keeps its leading zeros`() throws {
        let key = try P256.AgreementKey.generate()
        var found = 0
        for index in 1...20_000 where found < 3 {
            let peer = try P256.AgreementKey(pkcs8: pkcs8(scalar: (0..<4).map { UInt8(truncatingIfNeeded: index >> (24 - 8 * $0)) }))
            let bytes = try key.sharedSecret(with: peer.publicKey).copyForTest()
            #expect(bytes.count == 32)
            guard bytes[0] == 0 else { continue }
            found += 1
            #expect(try peer.sharedSecret(with: key.publicKey).equals(bytes))
        }
        #expect(found == 3)
    }

    @Test func `many threads, one key`() async throws {
        let key = try P256.AgreementKey.generate()
        let peers = try (0..<8).map { _ in try P256.AgreementKey.generate() }
        let expected = try peers.map { try $0.sharedSecret(with: key.publicKey).copyForTest() }
        await withTaskGroup(of: Bool.self) { group in
            for round in 0..<64 {
                group.addTask { (try? key.sharedSecret(with: peers[round % 8].publicKey).equals(expected[round % 8])) == true }
            }
            for await same in group { #expect(same) }
        }
    }

    // MARK: Signatures

    @Test(arguments: [false, true]) func `signatures verify, with and without a table`(_ tabled: Bool) throws {
        let key = try P256.SigningKey.generate()
        let verifier = try P256.VerificationKey(spki: key.publicKey.spki, tabled: tabled)
        for round in 0..<50 {
            let message = [UInt8](repeating: UInt8(round), count: round)
            let signature = try key.signature(over: message)
            #expect(verifier.isValid(signature: signature, over: SHA256.digest(message)))
            #expect(!verifier.isValid(signature: signature, over: SHA256.digest(message + [0])))
        }
        #expect(throws: Problem.cryptography(.publicKeyInvalid)) { try P256.VerificationKey(spki: Array(key.publicKey.spki.dropLast()), tabled: tabled) }
    }

    /// OpenSSL's own verification and ours by tables give the same verdict on everything.
    @Test func `table and OpenSSL agree`() throws {
        let key = try P256.SigningKey.generate()
        let plain = try P256.VerificationKey(spki: key.publicKey.spki)
        let tabled = try P256.VerificationKey(spki: key.publicKey.spki, tabled: true)
        let digest = SHA256.digest([1, 2, 3])
        let signature = try key.signature(over: [1, 2, 3])
        var reader = DERReader(signature)
        var pair = try reader.enter(.sequence)
        let (r, s) = (Array(signature[try pair.unsignedInteger()]), Array(signature[try pair.unsignedInteger()]))
        let order = try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let zero: [UInt8] = [0]
        let one: [UInt8] = [1]
        let negated = subtract(order, s)
        let cases: [(String, [UInt8], Bool)] = [
            ("itself", sequence(r, s), true), ("n − s", sequence(r, negated), true), ("swapped", sequence(s, r), false),
            ("r 0", sequence(zero, s), false), ("s 0", sequence(r, zero), false), ("both 0", sequence(zero, zero), false),
            ("r n", sequence(order, s), false), ("s n", sequence(r, order), false), ("1, 1", sequence(one, one), false),
            ("s + 2²⁵⁶", sequence(r, one + [UInt8](repeating: 0, count: 32 - s.count) + s), false),
            ("2²⁵⁶ − 1", sequence([UInt8](repeating: 0xff, count: 32), s), false), ("empty", [], false), ("trailing", signature + [0], false),
            ("cut", Array(signature.dropLast()), false), ("empty pair", [0x30, 0x00], false),
            (
                "padded r",
                DERWriter.sequence {
                    $0.primitive(.integer, [0, 0] + r); $0.integer(magnitude: s)
                }, false
            ),
            (
                "negative r",
                DERWriter.sequence {
                    $0.primitive(.integer, [0xff] + r); $0.integer(magnitude: s)
                }, false
            ),
            ("long length", [0x30, 0x81] + signature.dropFirst(), false),
            (
                "three",
                DERWriter.sequence {
                    $0.integer(magnitude: r); $0.integer(magnitude: s); $0.integer(1)
                }, false
            ),
        ]
        for (name, candidate, valid) in cases {
            #expect(plain.isValid(signature: candidate, over: digest) == valid, "\(name)")
            #expect(tabled.isValid(signature: candidate, over: digest) == valid, "\(name)")
        }
        for index in signature.indices {
            for bit in 0..<8 {
                var changed = signature
                changed[index] ^= 1 << UInt8(bit)
                #expect(!plain.isValid(signature: changed, over: digest) && !tabled.isValid(signature: changed, over: digest))
            }
        }
        // Digests at the edges: 0 (u₁ = 0), n (≡ 0) and the greatest.
        for edge in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xff, count: 32)] {
            let digest = try #require(Digest256(edge))
            let made = try signed(digest)
            #expect(made.plain.isValid(signature: made.signature, over: digest))
            #expect(made.tabled.isValid(signature: made.signature, over: digest))
            #expect(!plain.isValid(signature: made.signature, over: digest) && !tabled.isValid(signature: made.signature, over: digest))
        }
    }

    /// A signature over a digest of our choosing, by the one who may choose the key: with R = k·G and Q = d·G, s = (e + r·d)/k; here k = 1, d = 2, so
    /// s = e + 2r mod n.
    private func signed(_ digest: Digest256) throws -> (plain: P256.VerificationKey, tabled: P256.VerificationKey, signature: [UInt8]) {
        let key = try P256.AgreementKey(pkcs8: pkcs8(scalar: [2])).publicKey
        let generator = try P256.AgreementKey(pkcs8: pkcs8(scalar: [1])).publicKey
        let order = try hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let r = Array(generator.point.dropFirst().prefix(32))
        let s = add(add(r, r, order), reduce(digest.bytes, order), order)
        return (try P256.VerificationKey(spki: key.spki), try P256.VerificationKey(spki: key.spki, tabled: true), sequence(r, s))
    }

    private func sequence(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        DERWriter.sequence {
            $0.integer(magnitude: r)
            $0.integer(magnitude: s)
        }
    }

    private func subtract(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var result = left
        let right = [UInt8](repeating: 0, count: left.count - right.count) + right
        var borrow = 0
        for index in left.indices.reversed() {
            let difference = Int(left[index]) - Int(right[index]) - borrow
            result[index] = UInt8(difference & 0xff)
            borrow = difference < 0 ? 1 : 0
        }
        return result
    }

    private func reduce(_ value: [UInt8], _ order: [UInt8]) -> [UInt8] {
        value.lexicographicallyPrecedes(order) ? value : subtract(value, order)
    }

    private func add(_ left: [UInt8], _ right: [UInt8], _ order: [UInt8]) -> [UInt8] {
        var sum = [UInt8](repeating: 0, count: 33)
        var carry = 0
        for index in (0..<32).reversed() {
            let total = Int(left[index]) + Int(right[index]) + carry
            sum[index + 1] = UInt8(total & 0xff)
            carry = total >> 8
        }
        sum[0] = UInt8(carry)
        return Array((sum.lexicographicallyPrecedes([0] + order) ? sum : subtract(sum, order)).suffix(32))
    }

    // MARK: Wycheproof

    struct Agreement: Sendable, CustomTestStringConvertible {
        let id: Int
        let result: String
        let flags: [String]
        let spki: [UInt8]
        let scalar: [UInt8]
        let shared: [UInt8]
        var testDescription: String { "\(id) \(result) \(flags.joined(separator: ","))" }
    }

    static let agreements: [Agreement] = {
        guard let file = try? json("wycheproof/ecdh_secp256r1_test.json") as? [String: Any], let groups = file["testGroups"] as? [[String: Any]] else {
            return Vectors.unavailable("Wycheproof ECDH", cases: 612)
        }
        return groups.flatMap { $0["tests"] as? [[String: Any]] ?? [] }.compactMap { test in
            guard let id = test["tcId"] as? Int, let result = test["result"] as? String, let spki = Hex.decode(test["public"] as? String ?? "*"),
                let scalar = Hex.decode(test["private"] as? String ?? "*"), let shared = Hex.decode(test["shared"] as? String ?? "*")
            else { return nil }
            return Agreement(id: id, result: result, flags: test["flags"] as? [String] ?? [], spki: spki, scalar: scalar, shared: shared)
        }
    }()

    @Test(.enabled(if: Vectors.shared != nil, "NOT TESTED: 612 cases, no shared vectors")) func `Wycheproof ECDH`() throws {
        var counts: [String: Int] = [:]
        for test in P256Tests.agreements {
            let scalar = Array(test.scalar.drop { $0 == 0 })
            let key = try? P256.AgreementKey(pkcs8: pkcs8(scalar: scalar))
            let peer = try? P256.PublicKey(spki: test.spki)
            switch (test.result, peer) {
            case ("valid", .some(let peer)):
                #expect(try #require(key).sharedSecret(with: peer).equals(test.shared), "\(test.testDescription)")
                counts["valid, agreed", default: 0] += 1
            case ("valid", nil): Issue.record("refused: \(test.testDescription)")
            case ("invalid", .some): Issue.record("taken: \(test.testDescription)")
            case ("invalid", nil): counts["invalid, refused", default: 0] += 1
            case (_, .some): Issue.record("taken, though acceptable only: \(test.testDescription)")
            default: counts["acceptable (odd ASN.1, compressed, explicit parameters), refused", default: 0] += 1
            }
        }
        #expect(
            counts == [
                "valid, agreed": 330, "invalid, refused": 52, "acceptable (odd ASN.1, compressed, explicit parameters), refused": 230,
            ], "\(counts)")
    }
}

/// PKCS#8 of a scalar as given.
func pkcs8(scalar: [UInt8], point: [UInt8]? = nil, innerCurve: OID? = nil) -> SecretBytes {
    SecretBytes(
        copying: DERWriter.sequence { info in
            info.integer(0)
            info.sequence {
                $0.objectIdentifier(.ecPublicKey)
                $0.objectIdentifier(.p256)
            }
            info.constructed(.octetString) { wrapper in
                wrapper.sequence { key in
                    key.integer(1)
                    key.octetString(scalar)
                    if let innerCurve { key.constructed(.context(0)) { $0.objectIdentifier(innerCurve) } }
                    if let point { key.constructed(.context(1)) { $0.bitString(point) } }
                }
            }
        })
}
