import Encodings
import Foundation
import Secrets
import TestSupport

@testable import Cryptography

/// The secure heap, set up once for the whole run. Without wiping: by then OpenSSL may have allocated.
let secureHeap: Bool = {
    do {
        try CryptographicMemory.install(secureHeapBytes: 4 << 20, wiping: false)
        return true
    } catch { return false }
}()

func hex(_ text: String) throws -> [UInt8] {
    guard let bytes = Hex.decode(text.replacing(" ", with: "")) else { throw CocoaError(.coderInvalidValue) }
    return bytes
}

func secret(_ text: String) throws -> SecretBytes { SecretBytes(copying: try hex(text)) }

/// The certificates in a shared file, DER or PEM.
func certificates(_ path: String) throws -> [[UInt8]] {
    let bytes = try Vectors.bytes(path)
    return bytes.first == 0x30 ? [bytes] : PEM.blocks(in: bytes).compactMap(\.bytes)
}

func certificate(_ path: String) throws -> Certificate { try Certificate(der: certificates(path)[0]) }

/// The private key in a shared PEM file.
func privateKey(_ path: String) throws -> SecretBytes {
    guard let block = PEM.blocks(in: try Vectors.bytes(path)).first(where: { $0.label == "PRIVATE KEY" || $0.label == "EC PRIVATE KEY" }),
        let bytes = block.bytes
    else { throw CocoaError(.coderInvalidValue) }
    if block.label == "PRIVATE KEY" { return SecretBytes(copying: bytes) }
    return SecretBytes(
        copying: DERWriter.sequence {
            $0.integer(0)
            $0.sequence {
                $0.objectIdentifier(.ecPublicKey)
                $0.objectIdentifier(.p256)
            }
            $0.octetString(bytes)
        })
}

func json(_ path: String) throws -> Any { try JSONSerialization.jsonObject(with: Data(Vectors.bytes(path))) }

/// All files below `folder` of the vectors (ours below `minted`, those made by others elsewhere) whose name ends so.
func files(_ folder: String, _ suffix: String) -> [String] {
    guard let place = Vectors.url(folder), let names = FileManager.default.enumerator(atPath: place.path) else { return [] }
    return names.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.map { folder.isEmpty ? $0 : folder + "/" + $0 }.sorted()
}

/// What one token file carries, as far as this room cares; nil when the file is not a token at all.
struct SignedToken {
    let file: String
    let cms: [UInt8]
    let content: [UInt8]
    let ephemeralPublicKey: [UInt8]?
    let data: [UInt8]

    init?(_ file: String) {
        guard let value = try? json(file) as? [String: Any], let token = value["paymentData"] as? [String: Any] ?? value as [String: Any]?,
            let header = token["header"] as? [String: Any], let data = Base64.decode(token["data"] as? String ?? "*"),
            let cms = Base64.decode(token["signature"] as? String ?? "*"),
            let key = Base64.decode(header["ephemeralPublicKey"] as? String ?? header["wrappedKey"] as? String ?? "*"),
            let transaction = Hex.decode(header["transactionId"] as? String ?? "*"),
            let application = Hex.decode(header["applicationData"] as? String ?? "")
        else { return nil }
        self.file = file
        self.cms = cms
        self.data = data
        content = key + data + transaction + application
        ephemeralPublicKey = header["ephemeralPublicKey"] == nil ? nil : key
    }
}

let realTokens = [
    "basis-theory/ec-new", "basis-theory/ec-old", "processout/ec-2017", "processout/rsa-2017", "sepuka/iqoption-sandbox-2019",
    "spreedly-gala/seatgeek-2014", "spreedly-gala/spreedly-2021",
]
