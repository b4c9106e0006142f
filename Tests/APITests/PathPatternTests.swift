import Testing

@testable import API

@Suite struct PathPatternTests {
    private func match(_ pattern: String, _ path: String) -> [String]? {
        PathPattern(pattern).match(Array(path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()))
    }

    @Test func `gives the parts in braces, decoded`() {
        #expect(match("/v1/merchants/{id}", "/v1/merchants/mer_1") == ["mer_1"])
        #expect(match("/a/{x}/b/{y}", "/a/1%202/b/%C3%A9") == ["1 2", "é"])
        #expect(match("/a/{x}", "/a/b%2Fc") == ["b/c"])
        #expect(match("/healthz", "/healthz") == [])
        #expect(PathPattern("/a/{x}/b/{y}").parameters == ["x", "y"])
    }

    @Test(arguments: [
        "/v1/merchants", "/v1/merchants/", "/v1/merchants/a/", "/v1/merchants/a/b", "/v1/Merchants/a", "/v1/merchants/%zz", "/v1/merchants/%ff", "/",
    ])
    func `fits no other path`(_ path: String) {
        #expect(match("/v1/merchants/{id}", path) == nil)
    }
}
