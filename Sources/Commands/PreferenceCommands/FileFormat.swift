internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesSystem

enum FileFormat {
  case json
  case propertyList

  /// Returns the format of a file from its first characters.
  ///
  /// JSON begins with a brace or a bracket. A brace followed by `name =` begins what
  /// `defaults read` prints, which is refused as a property list.
  init(of data: Data) {
    if Self.isJSONInUTF16(data) {
      self = .json
      return
    }
    let beginning = data.prefix(10_000)
    let text = String(
      decoding: data.starts(with: Self.byteOrderMark) ? beginning.dropFirst(3) : beginning,
      as: UTF8.self)
    let isList =
      text.prefixMatch(of: /\s*(?:[^{\[\s]|\{\s*(?:[^"'}\s=:]+|"(?:[^"\\]|\\.)*"|'[^']*')\s*=)/)
      != nil
    self = isList ? .propertyList : .json
  }

  /// Whether a file begins with a bracket of JSON in UTF-16, with or without a byte order mark.
  private static func isJSONInUTF16(_ data: Data) -> Bool {
    let bytes = data.prefix(100)
    guard bytes.contains(0) else { return false }
    let marked = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    let first = (marked ? bytes.dropFirst(2) : bytes).first { ![0, 9, 10, 13, 32].contains($0) }
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
  }

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the bytes of a file.
  ///
  /// If `exact`, a property list gets an additional key next to each one whose dates have
  /// fractions.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if the format cannot
  ///   hold a value.
  func data(
    of values: [(key: String, value: PreferenceValue)], exact: Bool
  ) throws(PreferencesError) -> Data {
    switch self {
    case .json:
      let members = values.map { JSONValue.Member(name: $0.key, value: $0.value.exactJSON) }
      return Data((JSONValue.object(members).lines + "\n").utf8)
    case .propertyList:
      return try PropertyListText.data(of: values, exact: exact)
    }
  }

  /// Returns the keys whose dates lose the fractions of their seconds in a file.
  func roundedKeys(_ values: [(key: String, value: PreferenceValue)], exact: Bool) -> [String] {
    guard self == .propertyList, !exact else { return [] }
    return values.filter { key, value in
      (try? PropertyListForm.encode(value, forKey: key)).flatMap(ExactDates.list) != nil
    }.map(\.key)
  }

  /// Explains what to do about an unreadable file, or returns `nil` if its error is enough.
  func advice(on data: Data) -> String? {
    guard self == .propertyList, data.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      return nil
    }
    return
      "use the file of 'defaults export'; what 'defaults read' prints lacks the types of values"
  }

  /// Returns the values in a file, and the places of JSON's `null`.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  func values(
    of data: Data
  ) throws(PreferencesError) -> (values: [ImportPlan.Entry], omitted: String?) {
    // As a property list, it would be an empty dictionary.
    guard data.contains(where: { $0 > 0x20 }) else {
      throw PreferencesError(
        .damaged, data.contains(0) ? "it has no text, only zero bytes" : "it is empty")
    }
    guard self == .json else {
      let values = try PropertyListText.values(of: data)
      return (values.map { ($0, $1) }.sorted { $0.0 < $1.0 }, nil)
    }
    guard !data.starts(with: Self.byteOrderMark) else { throw .markedJSON }
    guard !Self.isJSONInUTF16(data) else {
      throw PreferencesError(.damaged, "it is in UTF-16; JSON is read in UTF-8, so save it as that")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw PreferencesError(.damaged, "it is not valid UTF-8")
    }
    let root = try JSONValue(parsing: text)
    guard case .object(let members) = root else {
      throw PreferencesError(.damaged, "the root is \(root.phrase), not an object")
    }
    var form = JSONForm()
    var values: [ImportPlan.Entry] = []
    for member in members {
      guard let value = try form.value(of: member.value, forKey: member.name) else { continue }
      values.append((member.name, value))
    }
    return (values, form.omission)
  }
}

/// Values as property lists, in the form of `Prephirences`' property list files.
enum PropertyListText {
  /// Returns the values of a property list whose root is a dictionary.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  static func values(of data: Data) throws(PreferencesError) -> [String: PreferenceValue] {
    let root = try PropertyListReader.readDictionary(data) { "this is \($0)" }.root
    return PropertyListForm.decode(root: root).mapValues(\.withOneNaN)
  }

  /// Returns the value of a property list of any type.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  static func value(of data: Data) throws(PreferencesError) -> PreferenceValue {
    do throws(PropertyListDamage) {
      return PropertyListForm.decode(try PropertyListReader.read(data).root).withOneNaN
    } catch {
      throw PreferencesError(.damaged, "this is not a property list: \(error.reason)")
    }
  }

  /// Returns an XML property list of preferences, with the fractions of dates if `exact`.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if a property list
  ///   cannot hold a key or value.
  static func data(
    of values: [String: PreferenceValue], exact: Bool = false
  ) throws(PreferencesError) -> Data {
    var root: [String: PreferenceValue] = [:]
    for (key, value) in values {
      let form = try PropertyListForm.encode(value, forKey: key)
      try check(key)
      try checkKeys(of: form, in: key)
      root[key] = XMLPropertyList.form(form)
      if exact { root[ExactDates.key(beside: key)] = ExactDates.list(of: form) }
    }
    return try PropertyListWriter.data(of: .dictionary(root), format: .xml)
  }

  /// Returns an XML property list of preferences, with the fractions of dates if `exact`.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``, also if two keys
  ///   differ only in their bytes, such as by a separate accent: a dictionary would lose one of
  ///   them.
  static func data(
    of values: [(key: String, value: PreferenceValue)], exact: Bool = false
  ) throws(PreferencesError) -> Data {
    var unique: [String: PreferenceValue] = [:]
    for (key, value) in values {
      guard unique.updateValue(value, forKey: key) == nil else {
        throw PreferencesError(
          .unstorable,
          "a property list cannot hold both keys '\(key)', which differ in their bytes alone; use "
            + "JSON"
        )
      }
    }
    return try data(of: unique, exact: exact)
  }

  /// Returns an XML property list of one value.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``.
  static func data(of value: PreferenceValue, forKey key: String) throws(PreferencesError) -> Data {
    let form = try PropertyListForm.encode(value, forKey: key)
    try checkKeys(of: form, in: key)
    return try PropertyListWriter.data(of: XMLPropertyList.form(form), format: .xml)
  }

  /// Fails if a dictionary in a value has a key that XML cannot hold.
  private static func checkKeys(
    of form: PreferenceValue, in key: String
  ) throws(PreferencesError) {
    switch form {
    case .array(let array):
      for element in array { try checkKeys(of: element, in: key) }
    case .dictionary(let dictionary):
      for (inner, value) in dictionary {
        try check(inner, in: key)
        try checkKeys(of: value, in: key)
      }
    default: break
    }
  }

  private static func check(_ key: String, in outer: String? = nil) throws(PreferencesError) {
    guard !XMLPropertyList.isWritable(key) else { return }
    let place = outer.map { " in the value of '\($0)'" } ?? ""
    throw PreferencesError(
      .unstorable, "XML lacks a character of the key '\(key)'\(place); use JSON")
  }
}

extension PreferencesError {
  /// The reason why JSON that some editors write is refused.
  static let markedJSON = Self(
    .damaged,
    "it begins with a byte order mark, the bytes EF BB BF, which JSON does not have; save it "
      + "without"
  )
}
