import Encodings

/// Further facts of an entry, in order: `["reason": "laptop stolen", "overlap_seconds": 0]`. Names are snake_case. Never a secret (see ``AuditDraft``).
public struct AuditDetails: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public enum Value: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
        case text(String)
        case integer(Int)
        case flag(Bool)

        public init(stringLiteral value: String) { self = .text(value) }
        public init(integerLiteral value: Int) { self = .integer(value) }
        public init(booleanLiteral value: Bool) { self = .flag(value) }
    }

    public struct Fact: Sendable, Equatable {
        public let name: String
        public let value: Value
    }

    public private(set) var facts: [Fact] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, Value)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// Setting a name again replaces its value; setting nil removes it.
    public subscript(name: String) -> Value? {
        get { facts.first { $0.name == name }?.value }
        set {
            let place = facts.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): facts[place] = Fact(name: name, value: value)
            case (let place?, nil): facts.remove(at: place)
            case (nil, let value?): facts.append(Fact(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// As one JSON object: how it is stored, and how the API shows it.
    public var json: [UInt8] {
        JSONWriter.object { object in
            for fact in facts {
                switch fact.value {
                case .text(let text): object.member(fact.name, text)
                case .integer(let number): object.member(fact.name, number)
                case .flag(let flag): object.member(fact.name, flag)
                }
            }
        }
    }

    /// Nil for a text that ``json`` did not write.
    init?(json text: String) {
        if text == "{}" { return }
        guard let document = try? JSONDocument(Array(text.utf8), maximumDepth: 1), document.root.kind == .object else { return nil }
        for (name, value) in document.root.members {
            if let text = value.string {
                self[name] = .text(text)
            } else if let number = value.integer {
                self[name] = .integer(number)
            } else if let flag = value.bool {
                self[name] = .flag(flag)
            } else {
                return nil
            }
        }
    }
}
