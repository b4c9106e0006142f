import Encodings

/// The shape of a JSON value: what `openapi.json` shows, and what a request is held against. One value serves both, so that they can't differ.
public struct Schema: Sendable {
    public indirect enum Shape: Sendable {
        /// - Parameters:
        ///   - values: the only texts allowed; nil: any.
        ///   - format: a format of JSON Schema or OpenAPI, such as `date-time`. Shown, not checked.
        ///   - maximum: characters.
        case text(values: [String]?, format: String?, maximum: Int?)
        case integer(ClosedRange<Int>?)
        case flag
        case list(Schema)
        /// An object with these members and no others.
        case object([Member])
        /// Any JSON value: something else judges it.
        case anything
        /// One of several shapes.
        case either([Schema])
    }

    public struct Member: Sendable {
        public let name: String
        public let schema: Schema
        public let isRequired: Bool

        public static func required(_ name: String, _ schema: Schema) -> Member { Member(name: name, schema: schema, isRequired: true) }
        /// In a request: may be left out, or null, which counts as left out.
        public static func optional(_ name: String, _ schema: Schema) -> Member { Member(name: name, schema: schema, isRequired: false) }
    }

    /// Objects with a name stand once, under `components.schemas`.
    public let name: String?
    public let shape: Shape
    public let summary: String?
    public private(set) var isNullable = false

    init(_ shape: Shape, _ summary: String? = nil, name: String? = nil) {
        self.name = name
        self.shape = shape
        self.summary = summary
    }

    public static func text(_ summary: String? = nil, format: String? = nil, maximum: Int? = nil) -> Schema {
        Schema(.text(values: nil, format: format, maximum: maximum), summary)
    }
    public static func oneOf(_ values: [String], _ summary: String? = nil) -> Schema { Schema(.text(values: values, format: nil, maximum: nil), summary) }
    static func oneOf<Value: CaseIterable & RawRepresentable<String>>(_ type: Value.Type, _ summary: String? = nil) -> Schema {
        oneOf(type.allCases.map(\.rawValue), summary)
    }
    /// RFC 3339 in UTC.
    public static func time(_ summary: String? = nil) -> Schema { .text(summary, format: "date-time") }
    public static func integer(_ summary: String? = nil, _ range: ClosedRange<Int>? = nil) -> Schema { Schema(.integer(range), summary) }
    public static func flag(_ summary: String? = nil) -> Schema { Schema(.flag, summary) }
    public static func list(of element: Schema, _ summary: String? = nil) -> Schema { Schema(.list(element), summary) }
    public static func object(_ name: String, _ summary: String? = nil, _ members: [Member]) -> Schema { Schema(.object(members), summary, name: name) }
    public static func anything(_ summary: String? = nil) -> Schema { Schema(.anything, summary) }
    public static func either(_ schemas: Schema..., summary: String? = nil) -> Schema { Schema(.either(schemas), summary) }

    /// The same, or null.
    public var orNull: Schema {
        var copy = self
        copy.isNullable = true
        return copy
    }

    /// A page of a list: `{"data": […], "next": …}`.
    static func page(of element: Schema) -> Schema {
        .object(
            "\(element.name ?? "")Page", nil,
            [
                .required("data", .list(of: element)),
                .required("next", .text("What to give as `after` for the next page; null at the end.").orNull),
            ])
    }

    /// An object with the members of this one and some more.
    func extended(_ name: String, _ summary: String? = nil, _ more: [Member]) -> Schema {
        guard case .object(let members) = shape else { return self }
        return .object(name, summary, members + more)
    }
}

// As JSON Schema 2020-12, which OpenAPI 3.1 takes over.
extension Schema {
    /// A reference where the schema has a name, else the schema itself.
    func write(into writer: inout JSONWriter) {
        guard let name else { return writeBody(into: &writer) }
        let reference = "#/components/schemas/\(name)"
        if isNullable {
            writer.object { object in
                object.member("anyOf") {
                    $0.array { alternatives in
                        alternatives.object { $0.member("$ref", reference) }
                        alternatives.object { $0.member("type", "null") }
                    }
                }
            }
        } else {
            writer.object { $0.member("$ref", reference) }
        }
    }

    /// The schema itself.
    func writeBody(into writer: inout JSONWriter) {
        writer.object { object in
            switch shape {
            case .text(let values, let format, let maximum):
                type("string", &object)
                if let values { object.member("enum") { $0.array { list in writeValues(values, &list) } } }
                if let format { object.member("format", format) }
                if let maximum { object.member("maxLength", maximum) }
            case .integer(let range):
                type("integer", &object)
                if let range {
                    object.member("minimum", range.lowerBound)
                    object.member("maximum", range.upperBound)
                }
            case .flag: type("boolean", &object)
            case .list(let element):
                type("array", &object)
                object.member("items") { element.write(into: &$0) }
            case .object(let members): writeMembers(members, &object)
            case .anything: break
            case .either(let schemas): object.member("anyOf") { $0.array { list in for schema in schemas { schema.write(into: &list) } } }
            }
            if let summary { object.member("description", summary) }
        }
    }

    private func type(_ name: String, _ object: inout JSONWriter) {
        if isNullable { object.member("type", [name, "null"]) } else { object.member("type", name) }
    }

    private func writeValues(_ values: [String], _ list: inout JSONWriter) {
        for value in values { list.string(value) }
        if isNullable { list.null() }
    }

    private func writeMembers(_ members: [Member], _ object: inout JSONWriter) {
        type("object", &object)
        object.member("properties") {
            $0.object { properties in
                for member in members {
                    properties.member(member.name) { member.schema.write(into: &$0) }
                }
            }
        }
        let required = members.filter(\.isRequired).map(\.name)
        if !required.isEmpty { object.member("required", required) }
        object.member("additionalProperties", false)
    }

    /// Every schema with a name, at or below this one.
    var named: [Schema] {
        let below: [Schema] =
            switch shape {
            case .list(let element): element.named
            case .object(let members): members.flatMap(\.schema.named)
            case .either(let schemas): schemas.flatMap(\.named)
            case .text, .integer, .flag, .anything: []
            }
        return name == nil ? below : [self] + below
    }
}
