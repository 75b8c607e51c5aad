internal import FoundationEssentials
internal import PrephirencesSystem

/// Reads property lists in XML.
///
/// It knows only XML's own entities, so that nothing grows. Characters are kept unchanged, also
/// those that XML does not have, because Foundation writes them.
struct XMLPropertyListReader {
  private var bytes: PropertyListBytes

  static func read(_ bytes: PropertyListBytes) throws(PropertyListDamage) -> PreferenceValue {
    var reader = Self(bytes: bytes)
    try reader.skipDeclaration()
    try reader.skipBetween()
    let root: PreferenceValue
    let start = reader.bytes
    if let element = try reader.element(), element.name == "plist" {
      guard !element.isEmpty else { throw reader.bytes.failure("<plist> is empty") }
      root = try reader.value(depth: 0)
      try reader.end("plist")
    } else {
      reader.bytes = start
      root = try reader.value(depth: 0)
    }
    try reader.skipBetween()
    guard reader.bytes.next == nil else { throw reader.bytes.failure("something follows the list") }
    return root
  }

  /// Skips the XML declaration, which has only quoted values.
  private mutating func skipDeclaration() throws(PropertyListDamage) {
    guard bytes.isNext("<?xml"), !bytes.isNext("<?xml-") else { return }
    let start = bytes
    try bytes.skip(behind: "?>", of: "an instruction")
    let text = String(decoding: start.bytes(upTo: bytes), as: UTF8.self)
    guard
      text.wholeMatch(of: /<\?xml(\s+[a-z]+\s*=\s*("[A-Za-z0-9._-]*"|'[A-Za-z0-9._-]*'))*\s*\?>/)
        != nil
    else { throw start.failure("the XML declaration is malformed") }
  }

  private mutating func skipSpace() { _ = bytes.takeAll(where: Self.isSpace) }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// Skips spaces, comments, instructions and the document type.
  private mutating func skipBetween() throws(PropertyListDamage) {
    while true {
      skipSpace()
      if bytes.take("<!--") {
        try bytes.skip(behind: "-->", of: "a comment")
      } else if bytes.take("<?") {
        try bytes.skip(behind: "?>", of: "an instruction")
      } else if bytes.take("<!DOCTYPE") {
        try skipDocumentType()
      } else {
        return
      }
    }
  }

  private mutating func skipDocumentType() throws(PropertyListDamage) {
    while let byte = bytes.pop() {
      switch byte {
      case UInt8(ascii: ">"): return
      case UInt8(ascii: "\""): try bytes.skip(behind: "\"", of: "a text of the document type")
      case UInt8(ascii: "["): throw bytes.failure("it declares elements or entities of its own")
      default: continue
      }
    }
    throw bytes.failure("the document type does not end")
  }

  // MARK: Elements

  /// Reads the start of an element, or returns `nil` if something else is next.
  private mutating func element() throws(PropertyListDamage) -> (name: String, isEmpty: Bool)? {
    guard bytes.next == UInt8(ascii: "<"), !bytes.isNext("</") else { return nil }
    _ = bytes.pop()
    let name = bytes.takeAll { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
    var last: UInt8?
    while let byte = bytes.pop() {
      switch byte {
      case UInt8(ascii: ">"):
        return (String(decoding: name, as: UTF8.self), last == UInt8(ascii: "/"))
      case UInt8(ascii: "\""): try bytes.skip(behind: "\"", of: "an attribute")
      case UInt8(ascii: "'"): try bytes.skip(behind: "'", of: "an attribute")
      case _ where last == nil && byte != UInt8(ascii: "/") && !Self.isSpace(byte):
        throw unknownElement
      default: break
      }
      last = byte
    }
    throw bytes.failure("an element does not end")
  }

  private var unknownElement: PropertyListDamage {
    bytes.failure("this element is none of a property list")
  }

  private mutating func end(_ name: StaticString) throws(PropertyListDamage) {
    try skipBetween()
    guard bytes.take("</"), bytes.take(name) else { throw bytes.failure("</\(name)> is missing") }
    skipSpace()
    guard bytes.take(">") else { throw bytes.failure("</\(name)> is missing") }
  }

  private mutating func value(depth: Int) throws(PropertyListDamage) -> PreferenceValue {
    guard depth < PropertyListReader.maximumDepth else { throw .tooDeep }
    try skipBetween()
    guard let (name, isEmpty) = try element() else { throw bytes.failure("a value is missing") }
    switch name {
    case "dict": return .dictionary(isEmpty ? [:] : try dictionary(depth: depth))
    case "array": return .array(isEmpty ? [] : try array(depth: depth))
    case "string": return .string(isEmpty ? "" : try text("string"))
    case "data": return .data(isEmpty ? Data() : try data())
    case "integer":
      return try scalar("integer", isEmpty, "a whole number that is not too large", Self.integer)
    case "real": return try scalar("real", isEmpty, "a number that is not too large", Self.real)
    case "date":
      return try scalar("date", isEmpty, "a date such as 2027-01-31T12:00:00Z", Self.date)
    case "true":
      if !isEmpty { try end("true") }
      return .bool(true)
    case "false":
      if !isEmpty { try end("false") }
      return .bool(false)
    default: throw unknownElement
    }
  }

  private mutating func array(depth: Int) throws(PropertyListDamage) -> [PreferenceValue] {
    var array: [PreferenceValue] = []
    try skipBetween()
    while !bytes.isNext("</") {
      array.append(try value(depth: depth + 1))
      try skipBetween()
    }
    try end("array")
    return array
  }

  private mutating func dictionary(
    depth: Int
  ) throws(PropertyListDamage) -> [PreferenceKey: PreferenceValue] {
    var dictionary: [PreferenceKey: PreferenceValue] = [:]
    try skipBetween()
    while !bytes.isNext("</") {
      guard let element = try element(), element.name == "key" else {
        throw bytes.failure("<key> is missing")
      }
      let key = element.isEmpty ? "" : try text("key")
      try dictionary.add(try value(depth: depth + 1), forKey: key)
      try skipBetween()
    }
    try end("dict")
    // Foundation writes references in archives like this.
    if PropertyListForm.isReference(dictionary) {
      throw bytes.failure("this is a reference of an archive, not a value")
    }
    return dictionary
  }

  // MARK: Text

  /// Reads the text of an element, and its end.
  private mutating func text(_ name: StaticString) throws(PropertyListDamage) -> String {
    var text: [UInt8] = []
    while true {
      text += bytes.takeAll { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }
      if bytes.take("&") {
        text += try reference().utf8
      } else if bytes.take("<![CDATA[") {
        while !bytes.take("]]>") {
          guard let byte = bytes.pop() else { throw bytes.failure("a CDATA section does not end") }
          text.append(byte)
        }
      } else if bytes.take("<!--") {
        try bytes.skip(behind: "-->", of: "a comment")
      } else {
        try end(name)
        return String(decoding: text, as: UTF8.self)
      }
    }
  }

  private static let entities: [String: String] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
  ]

  /// Reads the rest of a character reference.
  private mutating func reference() throws(PropertyListDamage) -> String {
    let name = String(
      decoding: bytes.takeAll { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "<") }, as: UTF8.self)
    let digits = name.hasPrefix("#x") ? name.dropFirst(2) : name.dropFirst()
    let number =
      digits.first?.isHexDigit == true
      ? UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10) : nil
    let text =
      name.hasPrefix("#")
      ? number.flatMap { Unicode.Scalar($0) }.map { String($0) } : Self.entities[name]
    guard let text, bytes.take(";") else {
      throw bytes.failure("'&' is followed by an unknown name of a character")
    }
    return text
  }

  // MARK: Scalars

  private mutating func data() throws(PropertyListDamage) -> Data {
    let digits = try text("data").utf8.filter { !Self.isSpace($0) }
    let padding = digits.drop { $0 != UInt8(ascii: "=") }
    // Foundation accepts digits after a padding character.
    guard padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }),
      let data = Data(base64Encoded: Data(digits))
    else {
      throw bytes.failure("the text of <data> is not base64")
    }
    return data
  }

  private mutating func scalar(
    _ name: StaticString, _ isEmpty: Bool, _ what: String,
    _ value: (String) -> PreferenceValue?
  ) throws(PropertyListDamage) -> PreferenceValue {
    let words = isEmpty ? [] : try text(name).utf8.split(whereSeparator: Self.isSpace)
    guard words.count == 1, let value = value(String(decoding: words[0], as: UTF8.self)) else {
      throw bytes.failure("the text of <\(name)> is not \(what)")
    }
    return value
  }

  private static func integer(_ text: String) -> PreferenceValue? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard digits.first?.isHexDigit == true else { return nil }
    let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    let magnitude =
      isHexadecimal ? UInt64(digits.dropFirst(2), radix: 16) : UInt64(digits)
    guard let magnitude else { return nil }
    if isNegative {
      return magnitude == 1 << 63
        ? .integer(.min) : Int64(exactly: magnitude).map { .integer(-$0) }
    }
    return Int64(exactly: magnitude).map { .integer($0) } ?? .unsignedInteger(magnitude)
  }

  private static func real(_ text: String) -> PreferenceValue? {
    // Swift also parses the bits of a not-a-number.
    guard !text.contains("("), let number = Double(text) else { return nil }
    return number.isInfinite && !text.lowercased().contains("inf") ? nil : .double(number)
  }

  /// Parses a date of the proleptic Gregorian calendar.
  private static func date(_ text: String) -> PreferenceValue? {
    let isNegative = text.hasPrefix("-")
    let text = isNegative ? text.dropFirst() : text[...]
    let parts = text.utf8.split(omittingEmptySubsequences: false) { byte in
      !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte)
    }
    guard text.filter({ !("0"..."9" ~= $0) }) == "--T::Z", parts.count == 7,
      case let numbers = parts.compactMap({ Int(Substring($0)) }), numbers.count == 6,
      parts[0].count <= 9, parts[1..<6].allSatisfy({ $0.count == 2 }), 1...12 ~= numbers[1],
      1...GregorianDay.count(inMonth: numbers[1], numbers[0]) ~= numbers[2],
      numbers[3] < 24, numbers[4] < 60,
      // Foundation writes the last moment of a minute as its second 60.
      numbers[5] <= 60
    else { return nil }
    let day = GregorianDay.number(isNegative ? -numbers[0] : numbers[0], numbers[1], numbers[2])
    let seconds = day * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
    return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
  }
}
