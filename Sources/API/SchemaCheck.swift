import Encodings
import Problems

// Holding a value against a schema.
extension Schema {
    /// - Throws: `request.member_*`, naming the member and where it stands.
    func check(_ value: JSONValue) throws(Problem) {
        // One look at the whole document first: doubled members are rare, and finding the place of one is not free.
        if value.doubledMember != nil, let (name, pointer) = doubled(in: value, at: JSONPointer()) {
            throw .api(
                .memberDoubled, cause: "The request has the member \"\(name.clipped)\" twice.",
                context: [("member", .text(name.clipped)), ("pointer", .text(pointer.text))])
        }
        do {
            try match(value)
        } catch {
            throw error.problem
        }
    }

    /// What does not fit, and on the way up where it stands: nothing of it is made while everything fits.
    private struct Mismatch: Error {
        enum Kind {
            case missing(String)
            case unknown(String, known: [String])
            case invalid(what: String, context: [(name: String, value: ContextValue)])
        }

        let kind: Kind
        /// Names and indices, the innermost first.
        var path: [String] = []
        /// The innermost member's name.
        var member: String?

        func within(_ name: String) -> Mismatch {
            var copy = self
            copy.path.append(name)
            if copy.member == nil { copy.member = name }
            return copy
        }

        func within(_ index: Int) -> Mismatch {
            var copy = self
            copy.path.append(String(index))
            return copy
        }

        var problem: Problem {
            let pointer = path.reversed().reduce(JSONPointer()) { $0.adding($1) }
            switch kind {
            case .missing(let name): return .memberMissing(name, at: pointer)
            case .unknown(let name, let known):
                return .api(
                    .memberUnknown, cause: "The request has the member \"\(name.clipped)\", which this call does not know.",
                    context: [
                        ("member", .text(name.clipped)), ("pointer", .text(pointer.adding(name).text)), ("known", .list(known.map { .text($0) })),
                    ])
            case .invalid(let what, let context):
                guard let member else { return .api(.memberInvalid, cause: "The body \(what).", context: [("pointer", "")] + context) }
                return .memberInvalid(member, at: pointer, what, context: context)
            }
        }
    }

    private static func invalid(_ what: String, _ context: [(name: String, value: ContextValue)] = []) -> Mismatch {
        Mismatch(kind: .invalid(what: what, context: context))
    }

    private func match(_ value: JSONValue) throws(Mismatch) {
        if isNullable, value.isNull { return }
        switch shape {
        case .anything: return
        case .text(let values, _, let maximum):
            guard value.kind == .string else { throw Schema.invalid("is not text") }
            guard values != nil || maximum != nil, let text = value.string else { return }
            if let values, !values.contains(text) {
                throw Schema.invalid("is none of the values allowed", [("allowed", .list(values.map { .text($0) }))])
            }
            if let maximum, text.count > maximum {
                throw Schema.invalid("is longer than \(maximum) characters", [("limit", .number(maximum)), ("size", .number(text.count))])
            }
        case .integer(let range):
            guard let number = value.integer else { throw Schema.invalid("is not an integer") }
            if let range, !range.contains(number) {
                throw Schema.invalid(
                    "is not between \(range.lowerBound) and \(range.upperBound)",
                    [("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))])
            }
        case .flag: if value.kind != .bool { throw Schema.invalid("is neither true nor false") }
        case .list(let element):
            guard value.kind == .array else { throw Schema.invalid("is not a list") }
            for (index, item) in value.elements.enumerated() {
                do throws(Mismatch) { try element.match(item) } catch { throw error.within(index) }
            }
        case .object(let members):
            guard value.kind == .object else { throw Schema.invalid("is not an object") }
            try match(members, of: value)
        case .either(let schemas):
            for schema in schemas {
                do throws(Mismatch) { return try schema.match(value) } catch { continue }
            }
            throw Schema.invalid("is of none of the forms allowed")
        }
    }

    private func match(_ members: [Member], of value: JSONValue) throws(Mismatch) {
        var found = 0
        for member in members {
            guard let item = value.member(member.name) else {
                if member.isRequired { throw Mismatch(kind: .missing(member.name)) }
                continue
            }
            found += 1
            if !member.isRequired, item.isNull { continue }
            do throws(Mismatch) { try member.schema.match(item) } catch { throw error.within(member.name) }
        }
        // Nothing stands twice, so as many as were found are all there are, unless one is unknown.
        guard found < value.memberCount, let odd = value.members.first(where: { item in !members.contains { $0.name == item.name } }) else { return }
        throw Mismatch(kind: .unknown(odd.name, known: members.map(\.name)))
    }

    // MARK: Doubled members

    /// The first doubled member outside what this schema leaves to others to judge.
    private func doubled(in value: JSONValue, at pointer: JSONPointer) -> (String, JSONPointer)? {
        if leavesToOthers { return nil }
        var seen: Set<String> = []
        for (name, item) in value.members {
            if !seen.insert(name).inserted { return (name, pointer.adding(name)) }
            if let found = schema(of: name).doubled(in: item, at: pointer.adding(name)) { return found }
        }
        for (index, item) in value.elements.enumerated() {
            if let found = elementSchema.doubled(in: item, at: pointer.adding(index)) { return found }
        }
        return nil
    }

    private var leavesToOthers: Bool {
        switch shape {
        case .anything: true
        case .either(let schemas): schemas.contains(where: \.leavesToOthers)
        case .text, .integer, .flag, .list, .object: false
        }
    }

    private func schema(of member: String) -> Schema {
        guard case .object(let members) = shape else { return Schema.unruled }
        return members.first { $0.name == member }?.schema ?? Schema.unruled
    }

    private var elementSchema: Schema {
        guard case .list(let element) = shape else { return Schema.unruled }
        return element
    }

    /// For what the schema does not speak of: no doubled members there either.
    private static let unruled = Schema(.object([]))
}
