internal import FoundationEssentials

/// Reads property lists in the form that `defaults read` prints: `{ name = value; list = (a, b); }`.
///
/// A file of `name = value;` without braces is one, too. All values are text or data.
struct TextPropertyListReader {
  private var bytes: PropertyListBytes

  static func read(_ bytes: PropertyListBytes) throws(PropertyListDamage) -> Any {
    var reader = Self(bytes: bytes)
    try reader.skipBetween()
    let start = reader.bytes
    if let next = start.next, !"{(<".utf8.contains(next) {
      let text = try reader.text()
      try reader.skipBetween()
      guard reader.bytes.next != nil else { return text }
      reader.bytes = start
      return try reader.dictionary(depth: 0)
    }
    let root = start.next == nil ? PreferencesDictionary() : try reader.value(depth: 0)
    try reader.skipBetween()
    guard reader.bytes.next == nil else { throw reader.bytes.failure("something follows the list") }
    return root
  }

  /// Skips space and comments.
  private mutating func skipBetween() throws(PropertyListDamage) {
    while true {
      bytes.skipSpace()
      if bytes.take("/*") {
        try bytes.skip(behind: "*/", of: "a comment")
      } else if bytes.take("//") {
        _ = bytes.takeAll { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      } else {
        return
      }
    }
  }

  private mutating func value(depth: Int) throws(PropertyListDamage) -> Any {
    guard depth < PropertyListReader.maximumDepth else { throw .tooDeep }
    if bytes.take("{") {
      let dictionary = try dictionary(depth: depth)
      guard bytes.take("}") else { throw bytes.failure("a dictionary has no '}'") }
      return dictionary
    }
    if bytes.take("(") { return try array(depth: depth) }
    if bytes.take("<") { return try data() }
    return try text()
  }

  /// Reads the pairs of a dictionary.
  private mutating func dictionary(depth: Int) throws(PropertyListDamage) -> PreferencesDictionary {
    var dictionary: PreferencesDictionary = [:]
    try skipBetween()
    while let next = bytes.next, next != UInt8(ascii: "}") {
      let key = try text()
      try skipBetween()
      // A key without a value is its own.
      var value: Any = key
      if bytes.take("=") {
        try skipBetween()
        value = try self.value(depth: depth + 1)
        try skipBetween()
      }
      guard bytes.take(";") else { throw bytes.failure("a value has no ';'") }
      try dictionary.add(value, forKey: key)
      try skipBetween()
    }
    return dictionary
  }

  private mutating func array(depth: Int) throws(PropertyListDamage) -> [Any] {
    var array: [Any] = []
    try skipBetween()
    while !bytes.take(")") {
      array.append(try value(depth: depth + 1))
      try skipBetween()
      if bytes.take(",") {
        try skipBetween()
      } else if bytes.next != UInt8(ascii: ")") {
        throw bytes.failure("an array has no ')'")
      }
    }
    return array
  }

  private mutating func data() throws(PropertyListDamage) -> Data {
    var data = Data()
    var high: UInt8?
    while !bytes.take(">") {
      guard let byte = bytes.pop() else { throw bytes.failure("data does not end") }
      if PropertyListBytes.isSpace(byte) { continue }
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) else {
        throw bytes.failure("data has other characters than hexadecimal digits")
      }
      if let first = high { data.append(first << 4 | digit) }
      high = high == nil ? digit : nil
    }
    guard high == nil else { throw bytes.failure("data has an odd number of digits") }
    return data
  }

  // MARK: Text

  private mutating func text() throws(PropertyListDamage) -> String {
    if let quote = bytes.next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      _ = bytes.pop()
      return try quoted(until: quote)
    }
    let text = bytes.takeAll { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "_$/:.-".utf8.contains(byte)
      }
    }
    guard !text.isEmpty else { throw bytes.failure("a value or a key is missing, or needs quotes") }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func quoted(until quote: UInt8) throws(PropertyListDamage) -> String {
    var text = ""
    // Halves of characters wait for the other half.
    var units: [UInt16] = []
    while true {
      let plain = bytes.takeAll { $0 != quote && $0 != UInt8(ascii: "\\") }
      let isEscaped = plain.isEmpty && bytes.take("\\")
      if isEscaped, bytes.take("U") || bytes.take("u") {
        units.append(try unit())
        continue
      }
      if !units.isEmpty {
        guard let characters = String(validating: units, as: UTF16.self) else {
          throw bytes.failure("a text contains half a character")
        }
        text += characters
        units = []
      }
      text += String(decoding: plain, as: UTF8.self)
      if isEscaped {
        text += try escaped()
      } else if bytes.next == quote {
        _ = bytes.pop()
        return text
      } else if bytes.next == nil {
        throw bytes.failure("a text does not end")
      }
    }
  }

  private mutating func unit() throws(PropertyListDamage) -> UInt16 {
    var digits = 0
    var unit: UInt16 = 0
    while digits < 4, let byte = bytes.next,
      let digit = Character(Unicode.Scalar(byte)).hexDigitValue
    {
      unit = unit << 4 | UInt16(digit)
      digits += 1
      _ = bytes.pop()
    }
    guard digits > 0 else { throw bytes.failure("an escape needs hexadecimal digits") }
    return unit
  }

  private mutating func escaped() throws(PropertyListDamage) -> String {
    guard let byte = bytes.pop() else { throw bytes.failure("a text does not end") }
    switch byte {
    case UInt8(ascii: "a"): return "\u{7}"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "v"): return "\u{B}"
    case UInt8(ascii: "0")...UInt8(ascii: "7"): return try octal(byte)
    case 0x80...:
      // The first byte of a character, which stands for itself.
      let rest = bytes.takeAll { 0x80...0xBF ~= $0 }
      return String(decoding: [byte] + rest, as: UTF8.self)
    default: return String(Unicode.Scalar(byte))
    }
  }

  /// The characters of NeXTSTEP from 0x80 on.
  private static let nextstep = Array(
    """
    \u{A0}ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏ\
    ÐÑÒÓÔÕÖÙÚÛÜÝÞµ×÷\
    ©¡¢£⁄¥ƒ§¤’“«‹›ﬁﬂ\
    ®–†‡·¦¶•‚„”»…‰¬¿\
    ¹ˋ´ˆ˜¯˘˙¨²˚¸³˝˛ˇ\
    —±¼½¾àáâãäåçèéêë\
    ìÆíªîïðñŁØŒºòóôõ\
    öæùúûıüýłøœßþÿ
    """.unicodeScalars)

  /// Reads the rest of an octal number, which is of a character of NeXTSTEP.
  private mutating func octal(_ first: UInt8) throws(PropertyListDamage) -> String {
    var number = UInt16(first - UInt8(ascii: "0"))
    for _ in 0..<2 {
      guard let byte = bytes.next, UInt8(ascii: "0")...UInt8(ascii: "7") ~= byte else { break }
      number = number << 3 | UInt16(byte - UInt8(ascii: "0"))
      _ = bytes.pop()
    }
    if number < 0x80 { return String(Unicode.Scalar(UInt8(number))) }
    guard number - 0x80 < Self.nextstep.count else {
      throw bytes.failure("an escape is the number of no character")
    }
    return String(Self.nextstep[Int(number) - 0x80])
  }
}
