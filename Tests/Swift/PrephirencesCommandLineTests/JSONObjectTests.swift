import Foundation
import Testing

@testable import PrephirencesCommandLine

@Suite("Objects in JSON")
struct JSONObjectTests {
  // Swift and its encoder consider both names equal.
  @Test func namesThatOnlyLookEqualAreBothShown() throws {
    let text = try JSONText.text(JSONObject([("\u{E9}", 1), ("e\u{301}", 2), ("a", 3)]))
    for pair in ["\"\u{E9}\" : 1", "\"e\u{301}\" : 2", "\"a\" : 3"] {
      #expect(Data(text.utf8).range(of: Data(pair.utf8)) != nil)
    }
  }
}
