import Problems
import Secrets
import Testing

@testable import Cryptography

struct BlockPermutationKeyTests {
    /// FIPS 197, appendix C.1 and C.3.
    @Test(arguments: [
        ("000102030405060708090a0b0c0d0e0f", UInt128(0x69c4_e0d8_6a7b_0430) << 64 | 0xd8cd_b780_70b4_c55a),
        ("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", UInt128(0x8ea2_b7ca_5167_45bf) << 64 | 0xeafc_4990_4b49_6089),
    ]) func `is AES`(_ key: String, _ ciphertext: UInt128) throws {
        let key = try BlockPermutationKey(secret(key))
        let block = UInt128(0x0011_2233_4455_6677) << 64 | 0x8899_aabb_ccdd_eeff
        #expect(key.encrypt(block) == ciphertext)
        #expect(key.decrypt(ciphertext) == block)
        #expect(key.encrypt(block) == ciphertext)
    }

    @Test func `needs 16 or 32 bytes`() {
        for count in [0, 15, 24, 33] {
            #expect(throws: Problem.cryptography(.keyLength)) { try BlockPermutationKey(SecureRandom.secret(count)) }
        }
    }
}
