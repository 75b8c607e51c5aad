internal import Foundation
internal import Prephirences

/// The formats of files with preferences.
enum FileFormat {
  case json
  case propertyList

  /// Returns the format of a file from its first character.
  init(of data: Data) {
    let first = data.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.first
    self = first == UInt8(ascii: "{") ? .json : .propertyList
  }

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
      return try PropertyListText.data(
        of: Dictionary(values.map { ($0.key, $0.value) }) { first, _ in first })
    }
  }

  /// Reads the values of a file.
  ///
  /// - Returns: The values, and the places of JSON's `null`.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  func values(
    of data: Data
  ) throws(PreferencesError) -> (values: [String: StoredValue], omitted: [String]) {
    guard self == .json else { return (try PropertyListText.values(of: data), []) }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw PreferencesError(.damaged, "it is not valid UTF-8")
    }
    guard case .object(let members) = try JSONReader.read(text) else {
      throw PreferencesError(.damaged, "it is not a JSON object")
    }
    var form = JSONForm()
    var values: [String: StoredValue] = [:]
    for member in members {
      values[member.name] = try form.value(of: member.value, at: member.name)
    }
    return (values, form.omitted)
  }
}
