internal import Foundation
internal import Prephirences

/// Stores an object, or an array of objects, as a keyed archive.
///
/// A value that cannot be archived is not stored, and data that is not an archive is not read;
/// neither stops the program.
public struct DefaultsKeyedArchiverBridge<T>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the archive of a value.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if the value cannot be
  ///   archived.
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
