import Foundation
import Prephirences
import Testing

/// The document's class, with what it leaves out.
final class CodedObject: NSObject, NSCoding {
  var intVar = 0
  var stringVar = ""

  override init() {}

  convenience init?(coder decoder: NSCoder) {
    self.init()
    self.intVar = decoder["intVarKey"] as? Int ?? 0
    // or self.intVar = decoder.integer(forKey: "intVar")
    self.stringVar = decoder["stringVarKey"] as? String ?? ""
  }

  func encode(with coder: NSCoder) {
    coder["intVarKey"] = self.intVar
    coder["stringVarKey"] = self.stringVar
  }
}

@Suite("NSCoder")
struct CodingTests {
  @Test func archive() throws {
    let object = CodedObject()
    object.intVar = 42
    object.stringVar = "text"
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: false)
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
    unarchiver.requiresSecureCoding = false
    let root = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? CodedObject
    #expect(root?.intVar == 42)
    #expect(root?.stringVar == "text")
  }

  @Test func typedGetter() throws {
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    archiver.set(42, forKey: "intVar")
    archiver.finishEncoding()
    let decoder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(decoder.integer(forKey: "intVar") == 42)
    #expect(decoder.dictionary().isEmpty)
  }
}
