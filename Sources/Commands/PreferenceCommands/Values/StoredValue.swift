internal import FoundationEssentials
internal import Prephirences

/// A value of a preference, with the type that it has in the store.
indirect enum StoredValue {
  case string(String)
  case bool(Bool)
  case integer(Int64)
  /// A whole number that is greater than every `Int64`.
  case unsigned(UInt64)
  case float(Float)
  case double(Double)
  case data(Data)
  case date(Date)
  case url(URL)
  case uuid(UUID)
  case decimal(Decimal)
  case array([StoredValue])
  case dictionary([String: StoredValue])

  /// The maximum nesting depth, which is that of the stores.
  static let maximumDepth = PropertyListForm.maximumDepth

  /// Takes a value as a store returns it; `nil` if it has a type that stores don't return.
  init?(_ object: Any) {
    guard let object = unwrapped(object) else { return nil }
    // Must precede the casts: a number object also casts to a truth value.
    if let bool = object as? Bool, type(of: object) == Bool.self {
      self = .bool(bool)
      return
    }
    // Number objects have no infinite `Float`.
    if let float = object as? Float, type(of: object) == Float.self {
      self = .float(float)
      return
    }
    switch object {
    case let text as String: self = .string(text)
    case let decimal as Decimal where type(of: object) == Decimal.self: self = .decimal(decimal)
    case let date as Date: self = .date(date)
    case let data as Data: self = .data(data)
    case let url as URL: self = .url(url)
    case let uuid as UUID: self = .uuid(uuid)
    case let array as [Any]:
      let values = array.compactMap(StoredValue.init)
      guard values.count == array.count else { return nil }
      self = .array(values)
    case let dictionary as [String: Any]:
      let values = dictionary.compactMapValues(StoredValue.init)
      guard values.count == dictionary.count else { return nil }
      self = .dictionary(values)
    // A number object casts to every number of Swift that holds it.
    case let bridged as any BridgedValue:
      guard let value = bridged.swiftValue else { return nil }
      self.init(value)
    case let number as any BinaryInteger:
      if let integer = Int64(exactly: number) {
        self = .integer(integer)
      } else if let unsigned = UInt64(exactly: number) {
        self = .unsigned(unsigned)
      } else {
        return nil
      }
    case let number as Double: self = .double(number)
    default: return nil
    }
  }

  /// Returns a whole number that is not negative.
  static func whole(_ number: UInt64) -> StoredValue {
    Int64(exactly: number).map(StoredValue.integer) ?? .unsigned(number)
  }

  /// The value as a store takes it.
  var object: Any {
    switch self {
    case .string(let text): text
    case .bool(let bool): bool
    // Of the usual width, so that the value reads as every other one of a program.
    case .integer(let number): Int(number)
    case .unsigned(let number): number
    case .float(let number): number
    case .double(let number): number
    case .data(let data): data
    case .date(let date): date
    case .url(let url): url
    case .uuid(let uuid): uuid
    case .decimal(let decimal): decimal
    case .array(let values): values.map(\.object)
    case .dictionary(let values): values.mapValues(\.object)
    }
  }
}
