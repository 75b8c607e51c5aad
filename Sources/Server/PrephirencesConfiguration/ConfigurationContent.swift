#if ConfigurationSupport
package import Configuration
internal import FoundationEssentials
internal import PreferencesCore

extension AbsoluteConfigKey {
  /// The name of the value: the components of the key, joined by full stops, without the context.
  package var valueName: String {
    components.count == 1 ? components[0] : components.joined(separator: ".")
  }
}

extension ConfigContent {
  /// Converts a stored value exactly, or not at all: 3.7 is not an integer.
  ///
  /// Text is read as the environment's provider reads it: numbers as Swift's initializers do, truth
  /// values from `true`, `false`, `yes`, `no`, `1` and `0` in any case, bytes from base64, and
  /// arrays from elements separated by commas. Numbers, truth values, URLs and UUIDs are also text.
  package init?(_ value: Any, as type: ConfigType) {
    switch type {
    case .string: self.init(Self.text(value), Self.string)
    case .int: self.init(PreferenceCast.cast(value), Self.int)
    case .double: self.init(PreferenceCast.cast(value), Self.double)
    case .bool: self.init(PreferenceCast.cast(value), Self.bool)
    case .bytes: self.init(Self.bytes(value), Self.bytes)
    case .stringArray: self.init(Self.elements(value, Self.text), Self.stringArray)
    case .intArray: self.init(Self.elements(value) { PreferenceCast.cast($0) }, Self.intArray)
    case .doubleArray: self.init(Self.elements(value) { PreferenceCast.cast($0) }, Self.doubleArray)
    case .boolArray: self.init(Self.elements(value) { PreferenceCast.cast($0) }, Self.boolArray)
    case .byteChunkArray: self.init(Self.elements(value, Self.bytes), Self.byteChunkArray)
    }
  }

  private init?<Value>(_ value: Value?, _ content: (Value) -> ConfigContent) {
    guard let value else { return nil }
    self = content(value)
  }

  /// Returns text, or the text of a number, truth value, URL or UUID; `nil` for anything else.
  package static func text(_ value: Any) -> String? {
    if let text = value as? String { return text }
    // A cast of a number object does not show whether it is a truth value.
    let plain = (value as? any BridgedValue)?.swiftValue ?? value
    return switch plain {
    case let truth as Bool where type(of: plain) == Bool.self: truth ? "true" : "false"
    case let number as any LosslessStringConvertible & Numeric: number.description
    case let number as Decimal: number.description
    case let url as URL: url.absoluteString
    case let uuid as UUID: uuid.uuidString
    case let text as String: text
    default: nil
    }
  }

  private static func bytes(_ value: Any) -> [UInt8]? {
    switch value {
    case let data as Data: [UInt8](data)
    case let text as String: Data(base64Encoded: text).map([UInt8].init)
    default: nil
    }
  }

  /// Converts the elements of an array, or of text with commas; `nil` if one cannot be converted.
  private static func elements<Element>(
    _ value: Any, _ convert: (Any) -> Element?
  ) -> [Element]? {
    let elements: [Any]
    if let text = value as? String {
      elements = text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
    } else if let array = value as? [Any] {
      elements = array
    } else {
      return nil
    }
    let converted = elements.compactMap(convert)
    return converted.count == elements.count ? converted : nil
  }
}

extension Substring {
  /// The text without the white space around it.
  fileprivate var trimmed: String {
    let start = drop(while: \.isWhitespace)
    return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
  }
}
#endif
