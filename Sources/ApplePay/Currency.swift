/// A currency of ISO 4217 that payments can be made in: its letters, its number and how many decimals its amounts have.
public struct Currency: Sendable, Hashable {
    /// Three capitals: `USD`.
    public let code: String
    /// Three digits, leading zeros kept: `036`.
    public let numeric: String
    /// Decimals of the minor unit: 2 for a cent, 0 where there is none.
    public let exponent: Int

    /// By three digits, exactly as ISO writes them.
    public init?(numeric: String) {
        guard let found = Currency.byNumber[numeric] else { return nil }
        self = found
    }

    /// By its letters, in either case.
    public init?(code: String) {
        guard let found = Currency.byCode[code.uppercased()] else { return nil }
        self = found
    }

    private init(code: String, numeric: String, exponent: Int) {
        self.code = code
        self.numeric = numeric
        self.exponent = exponent
    }

    /// Every currency of the table, by its letters.
    public static let all: [Currency] = table.flatMap { exponent, entries in
        entries.split(whereSeparator: \.isWhitespace).map { Currency(code: String($0.prefix(3)), numeric: String($0.suffix(3)), exponent: exponent) }
    }.sorted { $0.code < $1.code }

    private static let byNumber = Dictionary(all.map { ($0.numeric, $0) }, uniquingKeysWith: { first, _ in first })
    private static let byCode = Dictionary(all.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    /// - Source: ISO 4217 list one, with amendment 177 (XCG) and the Zimbabwe Gold; without metals, funds of no minor unit, and test codes.
    private static let table: [(exponent: Int, entries: String)] = [
        (
            0,
            """
            BIF108 CLP152 DJF262 GNF324 ISK352 JPY392 KMF174 KRW410 PYG600 RWF646 UGX800 UYI940 VND704 VUV548 XAF950 XOF952 XPF953
            """
        ),
        (
            2,
            """
            AED784 AFN971 ALL008 AMD051 AOA973 ARS032 AUD036 AWG533 AZN944 BAM977 BBD052 BDT050 BGN975 BMD060 BND096 BOB068 BOV984
            BRL986 BSD044 BTN064 BWP072 BYN933 BZD084 CAD124 CDF976 CHE947 CHF756 CHW948 CNY156 COP170 COU970 CRC188 CUP192 CVE132
            CZK203 DKK208 DOP214 DZD012 EGP818 ERN232 ETB230 EUR978 FJD242 FKP238 GBP826 GEL981 GHS936 GIP292 GMD270 GTQ320 GYD328
            HKD344 HNL340 HTG332 HUF348 IDR360 ILS376 INR356 IRR364 JMD388 KES404 KGS417 KHR116 KPW408 KYD136 KZT398 LAK418 LBP422
            LKR144 LRD430 LSL426 MAD504 MDL498 MGA969 MKD807 MMK104 MNT496 MOP446 MRU929 MUR480 MVR462 MWK454 MXN484 MXV979 MYR458
            MZN943 NAD516 NGN566 NIO558 NOK578 NPR524 NZD554 PAB590 PEN604 PGK598 PHP608 PKR586 PLN985 QAR634 RON946 RSD941 RUB643
            SAR682 SBD090 SCR690 SDG938 SEK752 SGD702 SHP654 SLE925 SOS706 SRD968 SSP728 STN930 SVC222 SYP760 SZL748 THB764 TJS972
            TMT934 TOP776 TRY949 TTD780 TWD901 TZS834 UAH980 USD840 USN997 UYU858 UZS860 VED926 VES928 WST882 XCD951 XCG532 YER886
            ZAR710 ZMW967 ZWG924
            """
        ),
        (
            3,
            """
            BHD048 IQD368 JOD400 KWD414 LYD434 OMR512 TND788
            """
        ),
        (
            4,
            """
            CLF990 UYW927
            """
        ),
    ]
}
