internal import Foundation
internal import Prephirences

/// The formats of files with preferences.
enum FileFormat {
  case json
  case propertyList

  /// Returns the format of a file from its first characters.
  ///
  /// Both JSON and the form in which `defaults read` prints a property list begin with a brace; then
  /// JSON has a name in quotes, followed by a colon, or nothing.
  init(of data: Data) {
    let beginning = data.prefix(10_000)
    let text = String(
      decoding: data.starts(with: Self.byteOrderMark) ? beginning.dropFirst(3) : beginning,
      as: UTF8.self)
    let isList =
      text.prefixMatch(of: /\s*(?:[^{\s]|\{\s*(?:[^"}\s]|"(?:[^"\\]|\\.)*"\s*[=;]))/)
      != nil
    self = isList ? .propertyList : .json
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the bytes of a file.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if the format cannot
  ///   hold a value.
  func data(of values: [(key: String, value: StoredValue)]) throws(PreferencesError) -> Data {
    switch self {
    case .json:
      let members = values.map { JSONValue.Member(name: $0.key, value: $0.value.exactJSON) }
      return Data((JSONValue.object(members).lines + "\n").utf8)
    case .propertyList:
      return try PropertyListText.data(of: values)
    }
  }

  /// Reads the values of a file.
  ///
  /// - Returns: The values, and the places of JSON's `null`.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  func values(
    of data: Data
  ) throws(PreferencesError) -> (values: [ImportPlan.Entry], omitted: String?) {
    // As a property list, it would be an empty dictionary.
    guard data.contains(where: { $0 > 0x20 }) else {
      throw PreferencesError(.damaged, "it is empty")
    }
    guard self == .json else {
      let values = try PropertyListText.values(of: data)
      return (values.map { ($0, $1) }.sorted { $0.0 < $1.0 }, nil)
    }
    guard !data.starts(with: Self.byteOrderMark) else {
      throw PreferencesError(
        .damaged,
        "it begins with a byte order mark, the bytes EF BB BF, which JSON does not have; save it without"
      )
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw PreferencesError(.damaged, "it is not valid UTF-8")
    }
    guard case .object(let members) = try JSONReader.read(text) else {
      throw PreferencesError(.damaged, "it is not a JSON object")
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
