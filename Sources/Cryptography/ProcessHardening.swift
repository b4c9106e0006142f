internal import CLibcrypto

/// Takes from the process what would write its memory out.
public enum ProcessHardening {
    /// No core file (`RLIMIT_CORE` 0), and no dump, no attaching debugger and no `/proc/<pid>/mem` for others (`PR_SET_DUMPABLE` 0). Both are lost
    /// by `exec`, so each new process calls this again.
    /// - Returns: whether the system agreed to both.
    @discardableResult public static func apply() -> Bool {
        let limited = coster_forbid_core_files() == 0
        return coster_set_undumpable() == 0 && limited
    }
}
