import Foundation
import Prephirences
import PrephirencesCommandLine
import PrephirencesSystem
import Testing

@testable import PreferenceCommands

@Suite("JSON of values")
struct JSONTests {
  private func read(_ text: String) throws -> PreferenceValue? {
    var form = JSONForm()
    return try form.value(of: try JSONValue(parsing: text), forKey: "key")
  }

  @Test("Exact JSON reads back", arguments: difficultValues.keys.sorted())
  func exactReadsBack(key: String) throws {
    let value = try #require(difficultValues[key].flatMap { PreferenceValue($0) })
    #expect(try read(value.exactJSON.lines) == value)
    #expect(try read(value.exactJSON.line) == value)
  }

  @Test("Foundation reads both forms", arguments: difficultValues.keys.sorted())
  func foundationReads(key: String) throws {
    let value = try #require(difficultValues[key].flatMap { PreferenceValue($0) })
    for form in [value.plainJSON, value.exactJSON] {
      for text in [form.lines, form.line] {
        _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
      }
    }
  }

  @Test("Plain JSON has no tags")
  func plainForm() throws {
    let values: [String: Any] = [
      "date": Date(timeIntervalSinceReferenceDate: 0.5), "data": Data([1, 2]), "float": Float(0.5),
      "whole": 2.0, "nan": Double.nan, "url": URL(string: "a:b")!,
    ]
    let value = try #require(PreferenceValue(values))
    #expect(
      value.plainJSON.line
        == #"{"data":"AQI=","date":"2001-01-01T00:00:00.5Z","float":0.5,"nan":"nan","url":"a:b","whole":2.0}"#
    )
  }

  @Test("Lines are indented and sorted")
  func layout() throws {
    let value = try #require(PreferenceValue(["b": [1, [:] as [String: Int]] as [Any], "B": []]))
    #expect(value.plainJSON.lines == "{\n  \"B\" : [],\n  \"b\" : [\n    1,\n    {}\n  ]\n}")
  }

  @Test("Numbers keep their type")
  func numbers() throws {
    #expect(try read("1")?.type == .int)
    #expect(try read("1.0")?.type == .double)
    #expect(try read("1e2")?.type == .double)
    #expect(try read("9223372036854775807")?.text == "9223372036854775807")
    #expect(try read("18446744073709551615")?.text == "18446744073709551615")
    #expect(try read("18446744073709551616")?.type == .decimal)
    #expect(try read("-0")?.type == .int)
  }

  @Test("Null is left out and noted")
  func nulls() throws {
    var form = JSONForm()
    let json = try JSONValue(parsing: #"{"a": null, "b": [1, null, {"c": null}]}"#)
    let value = try form.value(of: json, forKey: "key")
    #expect(value?.plainJSON.line == #"{"b":[1,{}]}"#)
    #expect(form.omitted == ["key.a", "key.b[1]", "key.b[2].c"])
  }

  @Test("A long name around many values is not copied for each")
  func places() throws {
    let name = String(repeating: "n", count: 100_000)
    var form = JSONForm()
    let nulls = JSONValue.array(Array(repeating: .null, count: 20_000))
    _ = try form.value(of: .object([.init(name: name, value: nulls)]), forKey: "key")
    #expect(form.omitted.count == 100 && form.omitted.allSatisfy { $0.utf8.count < 200 })
    #expect(form.omission?.hasSuffix("[99]' and 19900 more") == true)
  }

  @Test(
    "Malformed numbers are refused",
    arguments: ["01", "-", "1.", ".5", "1e", "1e+", "+1", "1.5.", "--1"])
  func malformedNumbers(text: String) {
    #expect(throws: PreferencesError.self) { try read(text) }
    #expect(throws: PreferencesError.self) { try read("[\(text)]") }
  }

  @Test("Escapes are read")
  func escapes() throws {
    #expect(
      try read(#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\\u0000""#)?.text
        == "\u{E9}\u{1F600}/\u{8}\u{C}\n\r\t\"\\\0")
    #expect(try read("\u{FEFF}[ ]")?.type == .array)
  }

  @Test(
    "Malformed JSON is refused",
    arguments: [
      "", " ", "nul", "[1,]", "[1 2]", "{\"a\" 1}", "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":2}",
      "{\"\u{E9}\":1,\"e\u{301}\":2}", "01", "1.", ".5", "+1", "1e", "- 1", "NaN", "\"a", "\"\\x\"",
      "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\u+123\"", "\"\t\"", "1 2", "[", "{",
      "tru\u{E9}", "1e999", "[\"a\"}", "1\0",
    ])
  func malformed(text: String) {
    #expect(throws: PreferencesError.self) { try read(text) }
  }

  @Test("Wrongly marked types are refused")
  func wrongTags() {
    let texts = [
      #"{"$date": "2027-01-01"}"#, #"{"$date": 5}"#, #"{"$data": "*"}"#, #"{"$float": "x"}"#,
      #"{"$float": 1e40}"#, #"{"$float": 16777217}"#, #"{"$double": 9007199254740993}"#,
      #"{"$url": ["a"]}"#, #"{"$dict": 1}"#, #"{"$uuid": null}"#,
    ]
    for text in texts { #expect(throws: PreferencesError.self) { try read(text) } }
  }

  @Test("Files that are no JSON object are described")
  func otherFiles() throws {
    let files: [(Data?, String)] = [
      (Data("[1]".utf8), "the root is an array, not an object"), (Data(count: 9), "zero bytes"),
      (Data("{ port = 9090; on = 1; }".utf8), "neither XML nor binary"),
      (Data(#"{ "a b" = {length = 4, bytes = 0x7b226361}; }"#.utf8), "neither XML nor binary"),
      (Data("{port: 1}".utf8), "not JSON"),
      (#"{"a": 1}"#.data(using: .utf16), "UTF-16"),
      (#"{"a": 1}"#.data(using: .utf16BigEndian), "UTF-16"),
      (#"{"a": 1}"#.data(using: .utf16LittleEndian), "UTF-16"),
    ]
    for (data, message) in files {
      let data = try #require(data)
      let error = #expect(throws: PreferencesError.self) {
        try FileFormat(of: data).values(of: data)
      }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  @Test("Other names with a dollar stay")
  func otherDollars() throws {
    #expect(try read(#"{"$other": 1}"#)?.type == .dict)
    #expect(try read(#"{"$date": 1, "b": 2}"#)?.type == .dict)
  }

  @Test("Depth is limited")
  func depth() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(try read(nested(150)) != nil)
    #expect(throws: PreferencesError.self) { try read(nested(100_000)) }
  }

  @Test("Messages name the line, not the text")
  func messages() throws {
    let error = try #require(throws: PreferencesError.self) {
      try JSONValue(parsing: "{\n  \"a\": \"secret\",\n  \"b\" 5\n}")
    }
    #expect(error.message == "this is not JSON: line 3: a name has no ':'")
  }
}
