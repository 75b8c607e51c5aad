internal import Foundation
internal import KeychainCredentials
internal import Prephirences

/// A value within a stored array or dictionary, as JSON that keeps its type.
///
/// Strings, truth values, `Int` and fractional `Double` numbers are written as in JSON, and `nil`
/// as `null`. Any other value is an object that names its type: `{"$type": "Data", "$value":
/// "aGk="}`. So is a dictionary that contains the key `$type`.
enum StoredNode {
  case null
  case string(String)
  case scalar(any StoredScalar)
  case array([StoredNode])
  case dictionary([String: StoredNode])
  case codable(any Encodable)

  /// A value whose type was found by its name while reading.
  case decoded(Any)

  static let arrayName = "Array"
  static let dictionaryName = "Dictionary"

  /// The maximum depth that the JSON decoder reads, with room for the objects that name types.
  private static let maximumDepth = 200

  /// Converts a value to its stored form.
  ///
  /// - Parameters:
  ///   - value: The value; it may be an optional.
  ///   - depth: How many arrays and dictionaries contain it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if the value has no
  ///   stored form.
  init(_ value: Any, depth: Int = 0) throws(KeychainError) {
    guard depth < Self.maximumDepth else {
      throw KeychainError(
        .invalidArgument, "arrays and dictionaries lie in each other too deeply to be stored")
    }
    guard let value = unwrapped(value) else {
      self = .null
      return
    }
    // The order matters: some casts succeed between types, such as from a number object to a truth
    // value, so the exact types come first.
    if let scalar = value as? any StoredScalar {
      self = .scalar(scalar)
    } else if type(of: value) is AnyClass, value is NSNull {
      self = .null
    } else if type(of: value) is AnyClass, let scalar = Self.scalar(bridging: value) {
      self = .scalar(scalar)
    } else if let text = value as? String {
      self = .string(text)
    } else if let array = value as? [Any] {
      self = .array(
        try array.map { element throws(KeychainError) in
          try StoredNode(element, depth: depth + 1)
        })
    } else if let dictionary = value as? [String: Any] {
      var nodes: [String: StoredNode] = [:]
      for (key, value) in dictionary { nodes[key] = try StoredNode(value, depth: depth + 1) }
      self = .dictionary(nodes)
    } else if let value = value as? any Encodable {
      self = .codable(value)
    } else {
      throw .unstorable(type(of: value))
    }
  }

  /// Returns the scalar that a Foundation object represents.
  ///
  /// Casting an array here would first convert it, with all its elements, to an object.
  private static func scalar(bridging value: Any) -> (any StoredScalar)? {
    switch value {
    case let number as NSDecimalNumber: number.decimalValue
    case let number as NSNumber: scalar(of: number)
    case let date as NSDate: date as Date
    case let url as NSURL: url as URL
    case let uuid as NSUUID: uuid as UUID
    case let data as NSData: data as Data
    default: nil
    }
  }

  private static func scalar(of number: NSNumber) -> any StoredScalar {
    let isBool = [true, false].contains { number === NSNumber(value: $0) }
    if isBool { return number.boolValue }
    switch unsafe String(cString: number.objCType) {
    case "d": return number.doubleValue
    case "f": return number.floatValue
    case "Q": return Int(exactly: number.uint64Value) ?? number.uint64Value
    default: return number.intValue
    }
  }

  /// The value.
  var value: Any {
    switch self {
    case .null: Any?.none as Any
    case .string(let text): text
    case .scalar(let scalar): scalar
    case .array(let nodes): nodes.map(\.value)
    case .dictionary(let pairs): pairs.mapValues(\.value)
    case .codable(let value): value
    case .decoded(let value): value
    }
  }

  /// Whether there is a value of a type that is known only to be `Codable`.
  var containsCodable: Bool {
    switch self {
    case .codable, .decoded: true
    case .array(let nodes): nodes.contains(where: \.containsCodable)
    case .dictionary(let pairs): pairs.values.contains(where: \.containsCodable)
    case .null, .string, .scalar: false
    }
  }
}
