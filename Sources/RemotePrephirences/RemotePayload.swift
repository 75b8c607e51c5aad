internal import Foundation

/// Reads answers, as values that every store of preferences takes.
///
/// Numbers and truth values are those of Swift. A `null` at the root removes the key; others are left
/// out.
enum RemotePayload {
  // Far more than preferences need, and far less than what overflows the stack of a reader.
  private static let greatestDepth = 128

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
      case .propertyList(let options):
        guard !PropertyListDepth.exceeds(greatestDepth, in: data),
          let list = PropertyListReader.read(data, options: options)
        else { throw malformed }
        return list.root
      case .custom(let read): return try read(data)
      }
    } catch {
      throw malformed
    }
  }

  private static var malformed: RemoteError {
    RemoteError(.malformed, "the answer is not of the format that was asked for")
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
    // Of number objects, only the two truth values are one object each.
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

/// How deep arrays and dictionaries lie in each other in an XML property list, whose reader calls
/// itself for each and would overflow the stack.
enum PropertyListDepth {
  private static let openings = [Data("<array".utf8), Data("<dict".utf8)]
  private static let lessThan = UInt8(ascii: "<")

  /// Returns whether there may be more than so many.
  static func exceeds(_ limit: Int, in data: Data) -> Bool {
    guard !data.starts(with: Data("bplist".utf8)) else { return false }
    var depth = 0
    var rest = data[...]
    while let start = rest.firstIndex(of: lessThan) {
      rest = rest[start...]
      if rest.starts(with: Data("</array".utf8)) || rest.starts(with: Data("</dict".utf8)) {
        depth = max(0, depth - 1)
      } else if openings.contains(where: { rest.starts(with: $0) }) {
        depth += 1
      }
      if depth > limit { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
