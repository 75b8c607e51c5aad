import EtcdTesting
import Foundation
import PrephirencesSystem
import Testing

@testable import PrephirencesEtcd

/// What answers mean, also hostile ones.
@Suite struct AnswerTests {
  private static let everything = EtcdKeys.from([], to: [0])

  @Test func base64IsThatOfFoundation() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      let text = bytes.base64
      #expect(text == Data(bytes).base64EncodedString())
      #expect([UInt8](base64: Array(text.utf8)[...]) == bytes)
    }
    for text in ["A", "AA", "AAA", "A===", "AA=A", "====", "AA-_", "A A=", "AAAA="] {
      #expect([UInt8](base64: Array(text.utf8)[...]) == nil)
    }
  }

  @Test func numbersAndAbsentFieldsAreRead() throws {
    let text = #"""
      {"header":{"cluster_id":"18446744073709551615","revision":7,"new":[1.5e3,{"a":null}]},
       "kvs":[{},{"key":"YQ==","mod_revision":"9223372036854775806","value":"\u0059Q=\u003d"}],
       "more":true,"count":null}
      """#
    let answer = try JSONValue(answer: bytes(text)).rangeAnswer(of: Self.everything)
    #expect(answer.header.clusterID == .max && answer.header.revision == 7)
    #expect(answer.rows.map(\.key) == [[], bytes("a")])
    #expect(answer.rows[1].value == bytes("a") && answer.rows[1].modRevision == .max - 1)
    #expect(answer.hasMore && answer.count == 0)
  }

  @Test(arguments: [
    "", " ", "{", "[", "{}x", #"{"header":{}"#, #"{"header":1}"#, "{\"header\":{},}", "nul", "\"",
    "\"\\", #"{"header":{},"kvs":{}}"#, #"{"header":{},"kvs":[{"key":1}]}"#,
    #"{"header":{},"kvs":[{"key":"*"}]}"#, #"{"header":{"revision":"9223372036854775808"}}"#,
    #"{"header":{"revision":1.5}}"#, #"{"header":{"revision":"9223372036854775807"}}"#,
    #"{"header":{"revision":"-1"}}"#, #"{"header":{},"kvs":[{"mod_revision":"-9"}]}"#,
    #"{"header":{},"kvs":[{"mod_revision":"9223372036854775807"}]}"#,
    #"{"header":{},"kvs":[{"key":"YQ=="},{"key":"YQ=="}]}"#,
    #"{"header":{},"more":"true"}"#, "{}",
    #"{"header":{},"kvs":[{"key":"\u00"}]}"#, #"{"header":{},"kvs":[{"key":"\"}]}"#,
    String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
  ])
  func otherAnswersAreRefused(_ text: String) {
    let error = #expect(throws: EtcdError.self) {
      try JSONValue(answer: bytes(text)).rangeAnswer(of: Self.everything)
    }
    #expect(error?.code == .protocolViolation)
  }

  @Test func rowsThatWereNotAskedForAreRefused() throws {
    let text = #"{"header":{"revision":7},"kvs":[{"key":"cy9h"}]}"#
    func answer(_ keys: EtcdKeys) throws -> EtcdRangeAnswer {
      try JSONValue(answer: bytes(text)).rangeAnswer(of: keys)
    }
    for keys in [EtcdKeys.one(bytes("s/a")), .prefix(bytes("s/")), Self.everything] {
      #expect(try answer(keys).rows.map(\.key) == [bytes("s/a")])
    }
    for keys in [EtcdKeys.one(bytes("s/")), .prefix(bytes("s/b")), .prefix(bytes("s/A"))] {
      #expect(throws: EtcdError.self) { try answer(keys) }
    }
  }

  @Test func cutAndChangedAnswersTrapNothing() throws {
    let text = bytes(
      #"{"header":{"revision":"7"},"kvs":[{"key":"YQ==","value":"\u0059Q="}],"more":true}"#)
    var random = SystemRandomNumberGenerator()
    for count in text.indices {
      _ = try? JSONValue(answer: Array(text[..<count])).rangeAnswer(of: Self.everything)
    }
    for _ in 0..<20_000 {
      var changed = text
      changed[Int.random(in: changed.indices, using: &random)] = .random(in: 0...255)
      _ = try? JSONValue(answer: changed).rangeAnswer(of: Self.everything)
    }
  }

  @Test func requestsAreThoseOfTheGateway() {
    let keys = EtcdKeys.from(bytes("a"), to: bytes("b"))
    let transaction = EtcdTransaction(
      compares: [.version(keys, .notEqual, 3), .value(.one(bytes("k")), .equal, [])],
      success: [
        .put(key: bytes("k"), value: bytes("v"), lease: .min),
        .range(keys, keysOnly: true, revision: 0),
      ], failure: [.delete(.one(bytes("k")))])
    #expect(
      String(decoding: transaction.json.body, as: UTF8.self)
        == #"{"compare":[{"key":"YQ==","range_end":"Yg==","target":"VERSION","result":"NOT_EQUAL","#
        + #""version":"3"},{"key":"aw==","target":"VALUE","result":"EQUAL","value":""}],"success":["#
        + #"{"request_put":{"key":"aw==","value":"dg==","lease":"-9223372036854775808"}},"#
        + #"{"request_range":{"key":"YQ==","range_end":"Yg==","keys_only":true}}],"failure":["#
        + #"{"request_delete_range":{"key":"aw=="}}]}"#)
    #expect(EtcdTransaction().json.body == bytes("{}"))
  }

  @Test func textsAreEscaped() throws {
    var written: [UInt8] = []
    JSONValue.append(bytes("\"\\\n\u{1}é"), to: &written)
    #expect(try JSONValue(answer: written).string() == "\"\\\n\u{1}é")
    let pair = try JSONValue(answer: bytes(#""\ud83d\ude00\/\b\f\r\t""#)).string()
    #expect(pair == "😀/\u{8}\u{c}\r\t")
  }

  @Test func aTokenWithALineEndIsRefused() {
    #expect(throws: EtcdError.self) { try Token(bytes("a\r\nX: b")) }
    #expect(throws: EtcdError.self) { try Token([]) }
  }
}
