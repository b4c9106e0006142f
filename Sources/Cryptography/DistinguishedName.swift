/// A name as certificates and requests carry it. No attribute has a length limit: real ones exceed X.520's 64 characters.
/// - Source: RFC 5280, 4.1.2.4; RFC 4514 for the text form.
public struct DistinguishedName: Hashable, Sendable {
    public struct Attribute: Hashable, Sendable {
        public let oid: OID
        /// The text; for a value that is no character string, its DER as `#` and hex.
        public let value: String

        public init(_ oid: OID, _ value: String) {
            self.oid = oid
            self.value = value
        }
    }

    /// DER of the whole Name.
    public let encoded: [UInt8]
    /// In the order of the encoding.
    public let attributes: [Attribute]

    /// A name with one attribute a level, in this order; UTF8String, country as PrintableString, domain component and e-mail as IA5String.
    public init(_ attributes: [Attribute]) {
        self.attributes = attributes
        encoded = DERWriter.sequence { writer in
            for attribute in attributes {
                writer.constructed(.set) { writer in
                    writer.sequence { writer in
                        writer.objectIdentifier(attribute.oid)
                        switch attribute.oid {
                        case .country: writer.printableString(attribute.value)
                        case .domainComponent, .emailAddress: writer.ia5String(attribute.value)
                        default: writer.utf8String(attribute.value)
                        }
                    }
                }
            }
        }
    }

    /// Reads a Name.
    public init(reading reader: inout DERReader) throws(DERError) {
        let element = try reader.next(.sequence)
        var levels = try reader.inside(element)
        var attributes: [Attribute] = []
        while !levels.isAtEnd {
            var level = try levels.enter(.set)
            repeat {
                var pair = try level.enter(.sequence)
                let oid = try pair.objectIdentifier()
                attributes.append(Attribute(oid, try DistinguishedName.text(&pair)))
                try pair.finish()
            } while !level.isAtEnd
        }
        self.attributes = attributes
        encoded = Array(reader.bytes[element.whole])
    }

    private static func text(_ reader: inout DERReader) throws(DERError) -> String {
        var probe = reader
        if let text = try? probe.text() {
            reader = probe
            return text
        }
        let element = try reader.next()
        return "#" + reader.bytes[element.whole].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// All values of one attribute.
    public func values(_ oid: OID) -> [String] { attributes.filter { $0.oid == oid }.map(\.value) }

    public var commonName: String? { values(.commonName).first }
    public var organizationalUnits: [String] { values(.organizationalUnit) }
    public var organization: String? { values(.organization).first }
    /// UID: in Apple's merchant certificates the merchant identifier.
    public var userID: String? { values(.userID).first }
}

extension DistinguishedName: CustomStringConvertible {
    /// `CN=…, OU=…`, in the order of the encoding.
    public var description: String {
        attributes.map { attribute in
            let name = DistinguishedName.shortNames[attribute.oid] ?? attribute.oid.description
            return "\(name)=\(DistinguishedName.escaped(attribute.value))"
        }.joined(separator: ", ")
    }

    private static let shortNames: [OID: String] = [
        .commonName: "CN", .surname: "SN", .serialNumber: "serialNumber", .country: "C", .locality: "L", .stateOrProvince: "ST", .organization: "O",
        .organizationalUnit: "OU", .userID: "UID", .domainComponent: "DC", .emailAddress: "emailAddress",
    ]

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case ",", "+", "\"", "\\", "<", ">", ";": text += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f: text += "\\" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
