internal import Foundation

/// Converts answers to values that every preference store accepts.
///
/// Numbers and truth values become Swift values. A `null` at the root removes the key; other nulls
/// are left out.
enum RemotePayload {
  static func values(
    of data: Data, _ format: SerializationFormat
  ) throws(RemoteError) -> PreferencesDictionary {
    guard let dictionary = try root(of: data, format) as? [String: Any] else {
      throw .notConvertibleToDictionary
    }
    return dictionary.mapValues { value(of: $0) as Any }
  }

  private static func root(
    of data: Data, _ format: SerializationFormat
  ) throws(RemoteError) -> Any {
    do {
      switch format {
      case .json(let options):
        return try JSONSerialization.jsonObject(with: data, options: options)
      case .propertyList: return try PropertyListReader.read(data).root
      case .custom(let read): return try read(data)
      }
    } catch {
      throw malformed
    }
  }

  private static var malformed: RemoteError {
    RemoteError(.malformed, "the answer does not have the requested format")
  }

  private static func value(of object: Any) -> Any? {
    switch unwrapped(object) {
    case nil, is NSNull: nil
    case let number as NSNumber where type(of: object) is AnyClass: plain(number)
    case let text as String: text
    case let array as [Any]: array.compactMap { value(of: $0) }
    case let dictionary as [String: Any]: dictionary.compactMapValues { value(of: $0) }
    case let other?: other
    }
  }

  private static func plain(_ number: NSNumber) -> Any {
    // Only the two truth values are unique number objects.
    if [true, false].contains(where: { number === NSNumber(value: $0) }) {
      return number.boolValue
    }
    return switch unsafe String(cString: number.objCType) {
    case "d", "f": number.doubleValue
    case "Q": number.uint64Value
    default: number.intValue
    }
  }
}
