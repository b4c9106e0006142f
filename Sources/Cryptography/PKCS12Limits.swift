/// What opening one `.p12` file may cost. Every figure in the file is the uploader's choice, and one of a kilobyte can hold a core for half an hour.
public struct PKCS12Limits: Sendable, Equatable {
    /// The file, decoded.
    public var bytes: Int
    /// Password iterations the file asks for, summed over MAC, safes and key bags. RFC 9579 files and security-minded tools use up to 1,000,000 a place.
    public var iterations: Int
    /// Iterations of the derivations really made: a place is derived again for each spelling of the password.
    public var iterationsMade: Int
    /// Memory of one scrypt derivation, 128 · N · r bytes.
    public var scryptBytes: Int
    /// Safes, and bags over all safes. (How deep bags may nest is bounded by ``DERReader/maximumDepth``.)
    public var bags: Int

    public init(
        bytes: Int = 1 << 20, iterations: Int = 5_000_000, iterationsMade: Int = 10_000_000, scryptBytes: Int = 32 << 20, bags: Int = 1000
    ) {
        self.bytes = bytes
        self.iterations = iterations
        self.iterationsMade = iterationsMade
        self.scryptBytes = scryptBytes
        self.bags = bags
    }
}
