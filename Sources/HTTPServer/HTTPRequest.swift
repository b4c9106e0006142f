public import Encodings

/// One whole request.
public struct HTTPRequest: Sendable {
    public let head: HTTPRequestHead
    /// Empty when there is none. Freed with the last copy of this value.
    public let body: [UInt8]
    /// What is known of the connection it came on.
    public let connection: ConnectionDetails

    public var id: String { head.requestID }
    public var clientCertificate: ClientCertificate? { connection.clientCertificate }
    public var peerAddress: String { connection.peerAddress }
    public var isTLS: Bool { connection.isTLS }
    public var listener: String { connection.listener }

    public init(head: HTTPRequestHead, body: [UInt8], connection: ConnectionDetails) {
        self.head = head
        self.body = body
        self.connection = connection
    }
}

/// What stays the same for every request of one connection.
public final class ConnectionDetails: Sendable {
    /// The name of the ``HTTPServerConfiguration/Listener`` that took it.
    public let listener: String
    /// The numeric address of the peer, without port.
    public let peerAddress: String
    public let isTLS: Bool
    public let clientCertificate: ClientCertificate?

    public init(listener: String, peerAddress: String, isTLS: Bool, clientCertificate: ClientCertificate?) {
        self.listener = listener
        self.peerAddress = peerAddress
        self.isTLS = isTLS
        self.clientCertificate = clientCertificate
    }
}

/// The certificate the client proved to hold the key of, in this handshake or in the one this session was resumed from.
///
/// No CA is consulted: only the key counts, and who it belongs to is decided by comparing this hash with a pin.
public struct ClientCertificate: Sendable, Equatable {
    /// SHA-256 of the DER SubjectPublicKeyInfo.
    public let spkiHash: Digest256
    /// The same, 32 bytes.
    public var spkiSHA256: [UInt8] { spkiHash.bytes }

    public init(spkiHash: Digest256) { self.spkiHash = spkiHash }
}
