internal import CLibcrypto
internal import Glibc

/// Takes from the process what would write its memory out.
public enum ProcessHardening {
    /// No core file (`RLIMIT_CORE` 0), and no dump, no attaching debugger and no `/proc/<pid>/mem` for others (`PR_SET_DUMPABLE` 0). Both are lost
    /// by `exec`, so each new process calls this again.
    /// - Returns: whether the system agreed to both.
    @discardableResult public static func apply() -> Bool {
        let limited = coster_forbid_core_files() == 0
        return coster_set_undumpable() == 0 && limited
    }

    /// Runs the program anew, once, with what must stand in the environment before `main`: Swift's crash reporter off (it prints memory around
    /// registers), and glibc's allocator told to overwrite what is freed (Swift's own buffers hold requests and answers for a moment).
    ///
    /// Call it first thing, before any thread is made. Returns at once in the second process, and in the first where `exec` fails.
    /// - Returns: whether the environment is as it must be.
    public static func reexecute() -> Bool {
        if variable("SWIFT_BACKTRACE") == crashReporterOff, variable("GLIBC_TUNABLES")?.hasSuffix(wipingAllocator) == true { return true }
        let tunables = variable("GLIBC_TUNABLES").map { "\($0):\(wipingAllocator)" } ?? wipingAllocator
        unsafe setenv("SWIFT_BACKTRACE", crashReporterOff, 1)
        unsafe setenv("GLIBC_TUNABLES", tunables, 1)
        unsafe coster_reexecute(CommandLine.unsafeArgv)
        return false
    }

    private static let crashReporterOff = "enable=no"
    private static let wipingAllocator = "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"

    private static func variable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
}
