# What the scripts of this folder share; sourced by them, never run by itself.
# shellcheck shell=bash

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s\n' "$*"; }
# Says what went wrong and what to do, and ends the script.
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Puts Swift 6 into PATH: the one already there, else one of the places where swiftly, packages and unpacked toolchains put it.
find_swift() {
    local swift version
    for swift in "$(command -v swift || true)" "${SWIFTLY_BIN_DIR:+$SWIFTLY_BIN_DIR/swift}" \
        "$HOME"/.local/share/swiftly/bin/swift "$HOME"/.swiftly/bin/swift /usr/libexec/swift*/bin/swift /usr/local/swift*/usr/bin/swift /*/swift*/usr/bin/swift; do
        [ -n "$swift" ] && [ -x "$swift" ] || continue
        version=$("$swift" --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1\2/p' | head -n 1)
        [ -n "$version" ] && [ "$version" -ge 62 ] || continue
        PATH=$(dirname "$swift"):$PATH
        export PATH
        return 0
    done
    return 1
}

# Seconds since the script began, for its progress lines.
elapsed() { printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60)); }
