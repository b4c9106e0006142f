import ApplePay
import Encodings
import HTTPServer
import Operations

// The three shapes of answers with records: one, one just made, and a page of many.
extension HTTPResponse {
    static func record<Value>(_ value: Value, _ write: (Value, inout JSONWriter) -> Void) -> HTTPResponse {
        .json(JSONWriter.object { write(value, &$0) })
    }

    /// 201 for what was made now, 200 for what was there.
    static func made<Value>(_ made: Made<Value>, _ write: (Value, inout JSONWriter) -> Void) -> HTTPResponse {
        .json(JSONWriter.object { write(made.value, &$0) }, status: made.isNew ? 201 : 200)
    }

    static func page<Value>(_ page: Page<Value>, _ write: (Value, inout JSONWriter) -> Void) -> HTTPResponse {
        .json(
            JSONWriter.object { object in
                object.member("data") {
                    $0.array { list in
                        for value in page.values { list.object { write(value, &$0) } }
                    }
                }
                object.member("next", page.next)
            })
    }
}

extension JSONWriter {
    mutating func member(_ name: String, _ warnings: [Warning]) {
        member(name) {
            $0.array { list in
                for warning in warnings {
                    list.object { object in
                        object.member("code", warning.code)
                        object.member("detail", warning.detail)
                    }
                }
            }
        }
    }
}

extension Warning {
    static let schema = Schema.object(
        "Warning", "Something odd that stops nothing.",
        [.required("code", .text("Never reworded.")), .required("detail", .text("One sentence."))])
}
