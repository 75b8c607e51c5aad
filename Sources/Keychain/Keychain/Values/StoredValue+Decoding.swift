internal import Foundation
internal import KeychainCredentials
internal import Prephirences

extension StoredValue {
  /// Returns the value, of the type that was stored.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if the bytes do not match
  ///   the content type.
  func value() throws(KeychainError) -> Any {
    guard let mediaType else { return text ?? data }
    switch mediaType.name {
    case StoredMediaType.data: return data
    case StoredMediaType.json: return try json(of: mediaType.type)
    default: return try scalar(of: mediaType.type) ?? text ?? data
    }
  }

  /// Returns the value as a type that the caller names.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/undecodable`` if the bytes are not a
  ///   value of that type.
  func value<Value: Decodable>(as type: Value.Type) throws(KeychainError) -> Value {
    if let data = data as? Value { return data }
    if let string = try? string() as? Value { return string }
    if let scalarType = type as? any StoredScalar.Type {
      if let scalar = text.flatMap({ scalarType.init(storedText: $0) }) as? Value { return scalar }
    } else if let value = try? value() as? Value {
      return value
    }
    return try StoredJSON.decode(type, from: self)
  }

  private func scalar(of type: String?) throws(KeychainError) -> Any? {
    guard let type, let scalarType = StoredScalars.byName[type] else { return nil }
    guard let scalar = text.flatMap({ scalarType.init(storedText: $0) }) else {
      throw unreadable(as: type)
    }
    return scalar
  }

  private func json(of type: String?) throws(KeychainError) -> Any {
    switch type {
    case StoredNode.arrayName, StoredNode.dictionaryName:
      return try StoredJSON.decode(StoredNode.self, from: self).value
    case let name?:
      guard let type = TypeName.decodableType(named: name) else { return data }
      return try StoredJSON.decode(type, from: self)
    case nil: return data
    }
  }

  /// Returns the error for a value that cannot be read as a type.
  ///
  /// - Parameters:
  ///   - type: The name of the type.
  ///   - reason: What is wrong, without anything of the value; `nil` if there is nothing more to
  ///     say.
  /// - Returns: The error.
  func unreadable(as type: String, because reason: String? = nil) -> KeychainError {
    let message = "\(subject) cannot be read as the type \(type)"
    return .undecodable(reason.map { "\(message): \($0)" } ?? message)
  }
}
