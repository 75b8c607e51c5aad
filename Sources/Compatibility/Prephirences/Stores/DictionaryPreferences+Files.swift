public import Foundation

extension DictionaryPreferences {
  /// Reads preferences from a property list in a bundle.
  ///
  /// It is `nil` if the file is missing or damaged.
  ///
  /// - Parameters:
  ///   - filename: The name of the file.
  ///   - ext: The extension, such as `plist`; `nil` if the name includes it.
  ///   - bundle: The bundle.
  public convenience init?(
    filename: String?, ofType ext: String?, bundle: Bundle = .main
  ) {
    guard let filename, let path = bundle.path(forResource: filename, ofType: ext) else {
      return nil
    }
    self.init(filePath: path)
  }

  /// Writes all preferences to an XML property list.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - atomically: Whether the old file stays until the new one is complete.
  /// - Returns: `false` on failure; ``write(toFile:format:)`` throws the reason.
  @discardableResult
  public func writeToFile(_ path: String, atomically: Bool = true) -> Bool {
    let file = PropertyListFile(path: path)
    return (try? file.write(dictionary(), format: .xml, atomically: atomically)) != nil
  }

  /// Writes all preferences to a property list.
  ///
  /// The old file stays until the new one is complete and on disk.
  ///
  /// - Parameters:
  ///   - path: The path of the file. A symbolic link is followed. A new file is readable by its
  ///     owner only.
  ///   - format: XML or binary.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/inputOutput``, or
  ///   ``PreferencesError/Code/unstorable`` for a value that a property list cannot hold. The old
  ///   file stays.
  public func write(
    toFile path: String, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws(PreferencesError) {
    try PropertyListFile(path: path)
      .write(dictionary(), format: PropertyListReader.Format(format))
  }
}
