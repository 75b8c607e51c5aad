internal import Foundation
internal import KeychainCredentials
internal import Prephirences

/// A value within a stored array or dictionary, as JSON that keeps its type.
///
/// Strings, truth values, `Int` and fractional `Double` numbers are what they are in JSON, `nil` is
/// `null`. Any other value is an object that names its type:
/// `{"$type": "Data", "$value": "aGk="}`. So is a dictionary that has the key `$type` itself.
enum StoredNode {
  case null
  case string(String)
  case scalar(any StoredScalar)
  case array([StoredNode])
  case dictionary([String: StoredNode])
  case codable(any Encodable)

  /// A value of a type that was found by its name, when read.
  case decoded(Any)

  static let arrayName = "Array"
  static let dictionaryName = "Dictionary"

  /// The greatest depth that the JSON decoder reads, with room for the objects that name types.
  private static let maximumDepth = 200

  /// Takes a value apart.
  ///
  /// - Parameters:
  ///   - value: The value; it may be an optional.
  ///   - depth: How many arrays and dictionaries it lies in.
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
    // value, so values that have their type exactly come first.
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

  /// The scalar that an object of Foundation stands for.
  ///
  /// To ask this of an array would turn it into an object first, with all that is in it.
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

  /// Whether there is a value of a type that only its `Codable` conformance describes.
  var containsCodable: Bool {
    switch self {
    case .codable, .decoded: true
    case .array(let nodes): nodes.contains(where: \.containsCodable)
    case .dictionary(let pairs): pairs.values.contains(where: \.containsCodable)
    case .null, .string, .scalar: false
    }
  }
}
