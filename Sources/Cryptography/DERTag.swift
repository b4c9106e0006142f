/// The identifier octet of an element: class, primitive or constructed, and a tag number up to 30. Higher numbers occur in none of our formats.
/// - Source: ITU-T X.690, 8.1.2.
public struct DERTag: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let boolean = DERTag(rawValue: 0x01)
    public static let integer = DERTag(rawValue: 0x02)
    public static let bitString = DERTag(rawValue: 0x03)
    public static let octetString = DERTag(rawValue: 0x04)
    public static let null = DERTag(rawValue: 0x05)
    public static let objectIdentifier = DERTag(rawValue: 0x06)
    public static let enumerated = DERTag(rawValue: 0x0a)
    public static let utf8String = DERTag(rawValue: 0x0c)
    public static let printableString = DERTag(rawValue: 0x13)
    public static let teletexString = DERTag(rawValue: 0x14)
    public static let ia5String = DERTag(rawValue: 0x16)
    public static let utcTime = DERTag(rawValue: 0x17)
    public static let generalizedTime = DERTag(rawValue: 0x18)
    public static let visibleString = DERTag(rawValue: 0x1a)
    public static let universalString = DERTag(rawValue: 0x1c)
    public static let bmpString = DERTag(rawValue: 0x1e)
    public static let sequence = DERTag(rawValue: 0x30)
    public static let set = DERTag(rawValue: 0x31)

    /// `[number]`, constructed: EXPLICIT, or IMPLICIT over a constructed type. `number` ≤ 30.
    public static func context(_ number: UInt8) -> DERTag { DERTag(rawValue: 0xa0 | number & 0x1f) }
    /// `[number]`, primitive: IMPLICIT over a primitive type. `number` ≤ 30.
    public static func contextPrimitive(_ number: UInt8) -> DERTag { DERTag(rawValue: 0x80 | number & 0x1f) }

    public var isConstructed: Bool { rawValue & 0x20 != 0 }
    /// The same tag, constructed: a string in segments (BER).
    public var constructed: DERTag { DERTag(rawValue: rawValue | 0x20) }
}
