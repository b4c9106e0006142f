import Database
import KeyStore
public import Problems

extension Operations {
    /// Opens every sealed key and compares its public key; nothing stays in the cache. What is wrong is listed, at most 100.
    public func verifyKeys() throws(Problem) -> (opened: Int, problems: [Problem]) {
        try keyStore.verifyAll(in: database)
    }

    /// Empties the cache of opened keys.
    public func forgetOpenedKeys() { keyStore.forgetOpenedKeys() }

    /// How many opened keys are cached.
    public var openedKeys: Int { keyStore.openedKeys }
}
