internal import CLibcrypto
internal import Encodings
internal import Problems

extension P256 {
    /// ECDSA verification for a signer met again and again.
    ///
    /// Verifying is u₁·G + u₂·Q. OpenSSL has a table of multiples for the generator G and none for a key Q, so that u₂·Q takes most of the time.
    /// Here Q is made the generator of a group of its own, whose multiples are then tabled too. Only public data is touched, so nothing leaks by time.
    /// - Source: FIPS 186-5, 6.4.2.
    @safe final class MultiplesTable: @unchecked Sendable {
        // Sendable: the group does not change after `init`; scratch space is handed to one thread at a time.
        private let group: OpaquePointer
        private let scratch = Pool<Scratch>()

        init(_ key: PublicKey) throws(Problem) {
            guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else { throw .libraryFailure("EC_GROUP_new_by_curve_name") }
            unsafe self.group = group  // owned from here on
            guard let point = unsafe EC_POINT_new(group) else { throw .libraryFailure("EC_POINT_new") }
            defer { unsafe EC_POINT_free(point) }
            let read = unsafe key.point.withUnsafeBufferPointer { unsafe EC_POINT_oct2point(group, point, $0.baseAddress, $0.count, nil) }
            guard read == 1, unsafe EC_GROUP_set_generator(group, point, EC_GROUP_get0_order(group), BN_value_one()) == 1,
                unsafe coster_ec_precompute(group, nil) == 1
            else { throw .libraryFailure("EC_GROUP_precompute_mult") }
        }

        deinit { unsafe EC_GROUP_free(group) }

        func isValid(signature: [UInt8], over digest: Digest256) -> Bool {
            guard let (r, s) = MultiplesTable.parts(signature) else { return false }
            let valid: Bool? = try? scratch.with(orMaking: { () throws(Problem) in try unsafe Scratch(group) }) { (scratch) throws(Problem) in
                unsafe scratch.isValid(signature[r], signature[s], digest, multiples: group)
            }
            if valid != true { OpenSSLErrors.discard() }
            return valid == true
        }

        /// Where r and s lie in `ECDSA-Sig-Value`, strict DER, each at most 32 bytes.
        private static func parts(_ signature: [UInt8]) -> (r: Range<Int>, s: Range<Int>)? {
            do throws(DERError) {
                var outer = DERReader(signature)
                var pair = try outer.enter(.sequence)
                try outer.finish()
                let (r, s) = (try pair.unsignedInteger(), try pair.unsignedInteger())
                try pair.finish()
                return r.count <= 32 && s.count <= 32 ? (r, s) : nil
            } catch { return nil }
        }
    }

    @safe private final class Scratch: @unchecked Sendable {
        // Sendable: a pool hands it to one thread at a time.
        private let numbers: OpaquePointer
        private let first: OpaquePointer
        private let second: OpaquePointer

        init(_ group: OpaquePointer) throws(Problem) {
            let (numbers, first, second) = unsafe (BN_CTX_new(), EC_POINT_new(Curve.group), EC_POINT_new(group))
            guard let numbers = unsafe numbers, let first = unsafe first, let second = unsafe second else {
                unsafe BN_CTX_free(numbers)
                unsafe EC_POINT_free(first)
                unsafe EC_POINT_free(second)
                throw .libraryFailure("EC_POINT_new")
            }
            unsafe self.numbers = numbers
            unsafe self.first = first
            unsafe self.second = second
        }

        deinit {
            unsafe EC_POINT_free(first)
            unsafe EC_POINT_free(second)
            unsafe BN_CTX_free(numbers)
        }

        func isValid(_ r: ArraySlice<UInt8>, _ s: ArraySlice<UInt8>, _ digest: Digest256, multiples group: OpaquePointer) -> Bool {
            unsafe BN_CTX_start(numbers)
            defer { unsafe BN_CTX_end(numbers) }
            let order = unsafe EC_GROUP_get0_order(Curve.group)
            guard let order = unsafe order, let r = unsafe number(r), let s = unsafe number(s), let e = unsafe number(digest),
                let u1 = unsafe BN_CTX_get(numbers), let u2 = unsafe BN_CTX_get(numbers), let x = unsafe BN_CTX_get(numbers)
            else { return false }
            guard unsafe BN_is_zero(r) == 0, unsafe BN_is_zero(s) == 0, unsafe BN_cmp(r, order) < 0, unsafe BN_cmp(s, order) < 0 else { return false }
            guard unsafe BN_mod_inverse(s, s, order, numbers) != nil,
                unsafe BN_mod_mul(u1, e, s, order, numbers) == 1, unsafe BN_mod_mul(u2, r, s, order, numbers) == 1,
                unsafe EC_POINT_mul(Curve.group, first, u1, nil, nil, numbers) == 1, unsafe EC_POINT_mul(group, second, u2, nil, nil, numbers) == 1,
                unsafe EC_POINT_add(Curve.group, first, first, second, numbers) == 1,
                // Refuses infinity, which has no coordinates.
                unsafe EC_POINT_get_affine_coordinates(Curve.group, first, x, nil, numbers) == 1,
                unsafe BN_nnmod(x, x, order, numbers) == 1
            else { return false }
            return unsafe BN_cmp(x, r) == 0
        }

        private func number(_ bytes: ArraySlice<UInt8>) -> OpaquePointer? {
            guard let number = unsafe BN_CTX_get(numbers) else { return nil }
            return unsafe bytes.withUnsafeBufferPointer { unsafe BN_bin2bn($0.baseAddress, Int32($0.count), number) }
        }

        private func number(_ digest: Digest256) -> OpaquePointer? {
            guard let number = unsafe BN_CTX_get(numbers) else { return nil }
            let words = digest.bigEndianWords
            let bytes = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
            return unsafe withUnsafeBytes(of: bytes) { unsafe BN_bin2bn($0.bindMemory(to: UInt8.self).baseAddress, 32, number) }
        }
    }
}
