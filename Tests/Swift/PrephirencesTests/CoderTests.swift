internal import Foundation
internal import Prephirences
internal import Testing

/// A class that is archived must not be nested in another type.
final class CodedModel: NSObject, NSCoding {
  var integer = 0
  var text = ""
  var read: [String: Any] = [:]
  var typed: [Double] = []

  override init() {}

  init?(coder decoder: NSCoder) {
    integer = decoder["intVarKey"] as? Int ?? 0
    text = decoder["stringVarKey"] as? String ?? ""
    for key in ["bool", "double", "float", "array", "dictionary", "url", "nil", "small", "bad"] {
      read[key] = decoder[key]
    }
    typed = [
      Double(decoder.integer(forKey: "intVarKey")), decoder.double(forKey: "intVarKey"),
      Double(decoder.float(forKey: "float")), decoder.bool(forKey: "bool") ? 1 : 0,
      Double(decoder.decodeInteger(forKey: "intVarKey")),
      Double(decoder.integer(forKey: "native")), Double(decoder.integer(forKey: "absent")),
    ]
  }

  func encode(with coder: NSCoder) {
    coder["intVarKey"] = integer
    coder["stringVarKey"] = text
    coder["bool"] = true
    coder["double"] = 2.5
    coder["float"] = Float(0.1)
    coder["array"] = [1, "a", [2.5]]
    coder["dictionary"] = ["a": 1]
    coder["url"] = URL(string: "https://swift.org/a?b")
    coder["nil"] = nil
    coder["small"] = 1
    coder["small"] = UInt8(200)
    coder["bad"] = 1...2
    coder.encode(9, forKey: "native")
    #expect(coder["intVarKey"] == nil && coder.dictionary().isEmpty)
  }
}

@Suite("Coders")
struct CoderTests {
  @Test func encodedValuesAreDecoded() throws {
    let model = CodedModel()
    model.integer = 42
    model.text = "text"
    let preferences = MutableDictionaryPreferences()
    preferences.set(objectToArchive: model, forKey: "k")
    let read = try #require(preferences.unarchiveObject(forKey: "k") as? CodedModel)
    #expect(read.integer == 42 && read.text == "text")
    #expect(read.read["bool"] as? Bool == true && read.read["double"] as? Double == 2.5)
    #expect(read.read["float"] as? Float == 0.1 && read.read["small"] as? UInt8 == 200)
    #expect((read.read["array"] as? [Any])?.count == 3)
    #expect(read.read["dictionary"] as? [String: Int] == ["a": 1])
    #expect(read.read["url"] as? URL == URL(string: "https://swift.org/a?b"))
    #expect(read.read["nil"] == nil && read.read["bad"] == nil)
    #expect(read.typed == [42, 42, Double(Float(0.1)), 1, 42, 9, 0])
  }
}
