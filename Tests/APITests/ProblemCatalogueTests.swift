import Foundation
import Problems
import Testing

@testable import API

@Suite struct ProblemCatalogueTests {
    @Test func `no code stands for two causes`() {
        let codes = ProblemCatalogue.entries.map(\.code)
        let twice = Dictionary(grouping: codes, by: { $0 }).filter { $0.value.count > 1 }.keys
        #expect(twice.isEmpty, "\(twice.sorted())")
        #expect(codes == codes.sorted())
    }

    /// A room that gets a catalogue of its own and is forgotten here fails.
    @Test func `holds the entries of every room`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)).compactMap { $0 as? URL }
        var found: Set<String> = []
        for file in files where file.pathExtension == "swift" && !file.path.contains("/Sources/Coster/") {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                if let match = line.firstMatch(of: /enum (\w+): String, ProblemEntry/) { found.insert(String(match.1)) }
            }
        }
        #expect(found == Set(ProblemCatalogue.rooms.map { "\($0)" }))
    }

    @Test(arguments: ProblemCatalogue.entries.map(\.code))
    func `says what happened and what to do, in one sentence each`(_ code: String) throws {
        let page = try #require(ProblemCatalogue.entries.first { $0.code == code }).page
        #expect(code.wholeMatch(of: /[a-z0-9_]+\.[a-z0-9_]+/) != nil)
        #expect(page.cause.hasSuffix(".") && page.fix.hasSuffix("."))
        #expect(page.cause.count > 15 && page.fix.count > 10)
        #expect(page.retryable == (page.status == 429 || page.status == 503))
    }

    /// `design.md` §6.
    @Test(arguments: ProblemCatalogue.entries.map(\.code))
    func `has the status of its kind`(_ code: String) throws {
        let status = try #require(ProblemCatalogue.entries.first { $0.code == code }).page.status
        let exceptions = [
            "payment_token.malformed": 400, "payment_token.encoding_unrecognised": 400, "payment_token.replayed": 409, "certificate.unknown": 404,
            "certificate.state_conflict": 409, "certificate.in_recent_use": 409, "certificate.already_held": 409, "certificate.too_many_pending": 409,
            "certificate.no_request": 404, "certificate.too_large": 413, "certificate.none_to_mint_for": 404, "merchant_identifier.unknown": 404,
            "merchant_identifier.case_differs": 404, "merchant_identifier.ambiguous": 409, "merchant_identifier.malformed": 422,
            "merchant_identifier.already_registered": 409, "merchant.unknown": 404, "decryption.unknown": 404, "credential.unknown": 404,
            "credential.rotation_pending": 409, "credential.environment_mismatch": 403, "credential.client_certificate_required": 401,
            "pkcs12.too_large": 413, "pkcs12.legacy_unavailable": 501,
        ]
        if let expected = exceptions[code] {
            #expect(status == expected)
        } else if ["payment_token", "signature", "certificate", "pkcs12"].contains(code.prefix { $0 != "." }) {
            #expect(status == 422)
        } else {
            #expect([400, 401, 403, 404, 405, 408, 409, 413, 415, 417, 422, 423, 429, 431, 500, 501, 503, 505].contains(status))
        }
    }

    @Test func `has the core codes`() {
        let core = """
            payment_token.malformed .encoding_unrecognised .version_unsupported .simulator .algorithm_mismatch .key_unknown .merchant_identifier_mismatch
            .undecryptable .content_unexpected .expectation_failed .replayed signature.unparseable .algorithm_unsupported .invalid .chain_invalid
            .intermediate_missing .untrusted_root .marker_missing .chain_expired .chain_not_yet_valid .signing_time_missing .signing_time_ambiguous .too_old
            .in_the_future .environment_mismatch certificate.unknown .not_a_certificate .private_key_exposed .wrong_kind .wrong_key_type .not_apple_pay
            .not_from_apple .merchant_extension_malformed .key_mismatch .merchant_identifier_mismatch .no_pending_request .state_conflict .in_recent_use
            .already_held .too_many_pending .no_request .public_key_hash_mismatch pkcs12.password_wrong .password_encoding .key_password_differs .no_private_key
            .no_certificate .algorithm_unsupported .iterations_too_high .too_expensive .truncated .ambiguous .structure_unsupported merchant_identifier.unknown
            .malformed .case_differs .ambiguous .already_registered merchant.unknown decryption.unknown credential.unknown .rotation_pending
            .environment_mismatch .client_certificate_required request.too_deep .idempotency_key_reused
            """
        var area = ""
        let codes = Set(ProblemCatalogue.entries.map(\.code))
        for word in core.split(whereSeparator: \.isWhitespace) {
            if let dot = word.firstIndex(of: "."), dot != word.startIndex { area = String(word[..<dot]) }
            let code = word.hasPrefix(".") ? area + word : String(word)
            #expect(codes.contains(code), "\(code)")
        }
    }
}
