/// The payment network that a card number belongs to, by the ranges the networks publish; nothing is guessed beyond them.
public enum CardNetwork: String, Sendable, CaseIterable, Hashable {
    case visa
    case mastercard
    case amex
    case discover
    case dinersClub = "diners_club"
    case jcb
    case unionPay = "unionpay"
    case maestro
    case mir
    case elo

    /// The network of a number of at least six digits; nil when no range below holds it.
    public init?(number: some StringProtocol) {
        var prefix = 0
        var digits = 0
        for byte in number.utf8.prefix(6) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            prefix = prefix * 10 + Int(byte - UInt8(ascii: "0"))
            digits += 1
        }
        guard digits == 6, let found = CardNetwork.ranges.first(where: { $0.first <= prefix && prefix <= $0.last }) else { return nil }
        self = found.network
    }

    /// The first six digits of each range; a range inside another stands before it.
    /// - Source: ISO/IEC 7812 issuer identification numbers as Visa, Mastercard, American Express, Discover, JCB, UnionPay, NSPK (Mir) and Elo
    ///   publish them in their processing rules.
    private static let ranges: [(first: Int, last: Int, network: CardNetwork)] = [
        // Elo lies in single pieces inside Visa's, Maestro's and Discover's ranges.
        (401178, 401179, .elo), (431274, 431274, .elo), (438935, 438935, .elo), (451416, 451416, .elo), (457393, 457393, .elo),
        (457631, 457632, .elo), (504175, 504175, .elo), (506699, 506778, .elo), (509000, 509999, .elo), (627780, 627780, .elo),
        (636297, 636297, .elo), (636368, 636368, .elo), (650031, 650033, .elo), (650035, 650051, .elo), (650405, 650439, .elo),
        (650485, 650538, .elo), (650541, 650598, .elo), (650700, 650718, .elo), (650720, 650727, .elo), (650901, 650978, .elo),
        (651652, 651679, .elo), (655000, 655019, .elo), (655021, 655058, .elo),
        (400000, 499999, .visa),
        (510000, 559999, .mastercard), (222100, 272099, .mastercard),
        (340000, 349999, .amex), (370000, 379999, .amex),
        (601100, 601199, .discover), (644000, 659999, .discover),
        (300000, 305999, .dinersClub), (309500, 309599, .dinersClub), (360000, 369999, .dinersClub), (380000, 399999, .dinersClub),
        (352800, 358999, .jcb),
        (620000, 629999, .unionPay), (810000, 817199, .unionPay),
        (220000, 220499, .mir),
        (501800, 501899, .maestro), (502000, 502099, .maestro), (503800, 503899, .maestro), (560000, 589999, .maestro),
        (630400, 630499, .maestro), (639000, 639099, .maestro), (670000, 679999, .maestro),
    ]
}
