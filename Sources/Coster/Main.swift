import Cryptography
import Glibc
import Problems

/// The one binary. Before anything else: nothing that this process makes is readable by others, nothing it holds is written out when it dies.
@main
enum Main {
    static func main() {
        umask(0o077)
        let isNegativeControl = ProcessEnvironment.value("COSTER_TEST_NO_WIPING") == "1"
        if !isNegativeControl, !ProcessHardening.reexecute() {
            Terminal.error("coster: could not start itself anew with the crash reporter off; is /proc mounted?\n")
            exit(1)
        }
        ProcessHardening.apply()
        do {
            try CryptographicMemory.install(secureHeapBytes: 8 << 20, wiping: !isNegativeControl)
        } catch {
            Terminal.report(error, asJSON: false)
            exit(1)
        }
        exit(Tool.run(Array(CommandLine.arguments.dropFirst())))
    }
}
