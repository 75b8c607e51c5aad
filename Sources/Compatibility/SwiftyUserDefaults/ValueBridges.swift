public import Foundation
internal import Prephirences

/// Stores a truth value; text, as in launch arguments, is also read.
public struct DefaultsBoolBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Bool

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the truth value itself.
  public func serialize(_ value: Bool) -> Any { value }

  /// Returns the truth value of a number or text.
  ///
  /// A number is true unless it is 0. `true`, `t`, `yes`, `y` and `1` are true, and `false`, `f`,
  /// `no`, `n` and `0` are false, in upper or lower case. Other text is neither.
  public func deserialize(_ object: Any) -> Bool? {
    if let truth = object as? Bool { return truth }
    if let number = object as? NSNumber { return number.boolValue }
    guard let text = object as? String else { return nil }
    return switch text.lowercased() {
    case "true", "t", "yes", "y", "1": true
    case "false", "f", "no", "n", "0": false
    default: nil
    }
  }
}

/// Stores an integer; text, as in launch arguments, is also read.
public struct DefaultsIntBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Int

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the number itself.
  public func serialize(_ value: Int) -> Any { value }

  /// Returns the integer of a number, without its fraction, or of text; `nil` if it is too large.
  public func deserialize(_ object: Any) -> Int? { NumberForm.integer(object) }
}

/// Stores a number; text, as in launch arguments, is also read.
public struct DefaultsDoubleBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Double

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the number itself.
  public func serialize(_ value: Double) -> Any { value }

  /// Returns the number, also from text.
  public func deserialize(_ object: Any) -> Double? { NumberForm.double(object) }
}

/// Stores a number of any type; text, as in launch arguments, is also read.
///
/// A stored number that the type cannot hold is not read.
public struct DefaultsNumberBridge<T>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the number itself.
  public func serialize(_ value: T) -> Any { value }

  /// Returns the number, also from text.
  public func deserialize(_ object: Any) -> T? { PreferenceCast.cast(object, to: T.self) }
}

/// Stores text; a number is read as its text.
public struct DefaultsStringBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = String

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the text itself.
  public func serialize(_ value: String) -> Any { value }

  /// Returns the text, or the text form of a number.
  public func deserialize(_ object: Any) -> String? {
    if let text = object as? String { return text }
    return (object as? NSNumber)?.stringValue
  }
}

/// Stores bytes.
public struct DefaultsDataBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Data

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the bytes themselves.
  public func serialize(_ value: Data) -> Any { value }

  /// Returns the bytes.
  public func deserialize(_ object: Any) -> Data? { object as? Data }
}

/// Stores a URL; an archive of a URL and text are also read.
public struct DefaultsUrlBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = URL

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the URL itself.
  public func serialize(_ value: URL) -> Any { value }

  /// Returns the URL; text with a scheme is read as a URL, other text as a path.
  public func deserialize(_ object: Any) -> URL? { PreferenceValue(reading: object).url }
}

/// Stores a value as JSON; objects of a property list are also read.
public struct DefaultsCodableBridge<T: Codable>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the JSON of a value.
  ///
  /// - Throws: The error of the encoder.
  public func serialize(_ value: T) throws -> Any { try EncodedForm.object(for: value) }

  /// Returns the value of JSON, or of an object of a property list.
  public func deserialize(_ object: Any) -> T? { EncodedForm.value(of: object) }
}

/// Stores a value that is an object of a property list itself: a date, or a dictionary.
///
/// In a dictionary, values that are `Codable` make the whole dictionary JSON; other values are
/// stored by their own bridges.
public struct DefaultsObjectBridge<T>: DefaultsSerializingBridge {
  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the value, with its elements converted if needed.
  ///
  /// - Throws: The error of the encoder or of the elements' bridge.
  public func serialize(_ value: T) throws -> Any { try CollectionForm.object(for: value) }

  /// Returns the value of an object, or of its JSON.
  public func deserialize(_ object: Any) -> T? { CollectionForm.value(of: object) }
}

/// Stores an object, or an array of objects, as a keyed archive.
///
/// An object that cannot be archived is not stored, and data that is not an archive is not read;
/// neither stops the program.
public struct DefaultsKeyedArchiverBridge<T>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the archive of a value.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if the value cannot
  ///   be archived.
  public func serialize(_ value: T) throws -> Any {
    guard let archive = PreferenceArchive.archive(value) else {
      throw PreferencesError(
        .unstorable, "its type, \(T.self), is not one that NSKeyedArchiver can archive")
    }
    return archive
  }

  /// Returns the value of an archive.
  public func deserialize(_ object: Any) -> T? {
    if let value = object as? T { return value }
    return (object as? Data).flatMap(PreferenceArchive.unarchive) as? T
  }
}

/// Stores the raw value of a value; JSON is also read if the type is `Decodable`.
public struct DefaultsRawRepresentableBridge<T: RawRepresentable>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the object of the raw value.
  ///
  /// - Throws: The error of the raw value's encoder.
  public func serialize(_ value: T) throws -> Any { try RawForm.object(for: value) }

  /// Returns the value with this raw value.
  public func deserialize(_ object: Any) -> T? { RawForm.value(of: object) }
}
