/// An amount in a currency's minor unit, as digits: exact at any length, never a binary fraction.
struct MinorUnits: Equatable {
    /// Decimal digits without leading zeros, with `-` before them when negative: `100` for 1.00 USD.
    let text: String

    /// From a JSON number's own text. Nil unless it is an integer: `100` is, and so is `100.00`; `19.99` and `1e2` are not.
    init?(jsonNumber: String) {
        guard let text = MinorUnits.shifted(jsonNumber, exponent: 0) else { return nil }
        self.text = text
    }

    /// From an amount as people write it, `1.00`, in a currency of `exponent` decimals. Nil when it is not decimal or has more decimals than that
    /// (zeros at the end aside).
    init?(decimal: String, exponent: Int) {
        guard let text = MinorUnits.shifted(decimal, exponent: exponent) else { return nil }
        self.text = text
    }

    /// As people write it: `1.00` for 100 in a currency of two decimals.
    func decimal(exponent: Int) -> String {
        guard exponent > 0 else { return text }
        let isNegative = text.hasPrefix("-")
        let digits = String(isNegative ? text.dropFirst() : text[...])
        let padded = String(repeating: "0", count: max(0, exponent + 1 - digits.utf8.count)) + digits
        return "\(isNegative ? "-" : "")\(padded.dropLast(exponent)).\(padded.suffix(exponent))"
    }

    /// Moves the decimal point `exponent` places to the right; nil when something other than zeros is left behind it.
    private static func shifted(_ decimal: String, exponent: Int) -> String? {
        var digits: [UInt8] = []
        var decimals: Int?
        let isNegative = decimal.utf8.first == UInt8(ascii: "-")
        var hasDigit = false
        for byte in decimal.utf8.dropFirst(isNegative ? 1 : 0) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                hasDigit = true
                if let seen = decimals {
                    decimals = seen + 1
                    if seen >= exponent {
                        guard byte == UInt8(ascii: "0") else { return nil }
                        continue
                    }
                }
                if !(digits.isEmpty && byte == UInt8(ascii: "0")) { digits.append(byte) }
            case UInt8(ascii: "."):
                guard decimals == nil, hasDigit else { return nil }
                decimals = 0
            default: return nil
            }
        }
        guard hasDigit, decimals != 0 else { return nil }
        guard !digits.isEmpty else { return "0" }
        digits.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: max(0, exponent - (decimals ?? 0))))
        return (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
    }
}
