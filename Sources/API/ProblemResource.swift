import Accounts
import Encodings
import HTTPServer
import Problems

/// `/v1/problems`: the catalogue of everything that can go wrong.
enum ProblemResource {
    static let routes = [
        Route(.get, "/v1/problems", ReadProblems.self, answer: .ok(page, "All codes."), "Lists every code with its status, cause and next step.", list)
    ]

    private static let page = Schema.page(
        of: .object(
            "ProblemPage", nil,
            [
                .required("code", .text()), .required("status", .integer("The HTTP status.")), .required("cause", .text("One sentence.")),
                .required("fix", .text("The next step, one sentence.")), .required("retryable", .flag()),
            ]))

    /// All on one page.
    private static func list(_ exchange: Exchange, _ grant: Grant<ReadProblems>) throws(Problem) -> HTTPResponse { catalogue }

    private static let catalogue = HTTPResponse.json(
        JSONWriter.object { object in
            object.member("data") {
                $0.array { list in
                    for entry in ProblemCatalogue.entries {
                        list.object { object in
                            object.member("code", entry.code)
                            object.member("status", entry.page.status)
                            object.member("cause", entry.page.cause)
                            object.member("fix", entry.page.fix)
                            object.member("retryable", entry.page.retryable)
                        }
                    }
                }
            }
            object.member("next", nil as String?)
        })
}
