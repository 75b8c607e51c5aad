public import Foundation

extension DictionaryPreferences {
  /// Reads preferences from a property list in a bundle.
  ///
  /// It is `nil` if there is no such file, or it is damaged.
  ///
  /// - Parameters:
  ///   - filename: The name of the file.
  ///   - ext: Its extension, such as `plist`; `nil` if the name has it.
  ///   - bundle: The bundle.
  public convenience init?(
    filename: String?, ofType ext: String?, bundle: Bundle = .main
  ) {
    guard let filename, let path = bundle.path(forResource: filename, ofType: ext) else {
      return nil
    }
    self.init(filePath: path)
  }

  /// Writes all preferences into a property list, as XML.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - atomically: Whether the old file stays until the new one is complete.
  /// - Returns: `false` if that failed; ``write(toFile:format:)`` says why.
  @discardableResult
  public func writeToFile(_ path: String, atomically: Bool = true) -> Bool {
    let file = PropertyListFile(path: path)
    return (try? file.write(dictionary(), format: .xml, atomically: atomically)) != nil
  }

  /// Writes all preferences into a property list.
  ///
  /// The old file stays until the new one is complete and on disk.
  ///
  /// - Parameters:
  ///   - path: The path of the file. A symbolic link is followed. A new file is closed to others.
  ///   - format: XML, or binary.
  /// - Throws: ``PreferencesError``: ``PreferencesError/Code/inputOutput``, or
  ///   ``PreferencesError/Code/unstorable`` for a value that a property list cannot hold. The old
  ///   file stays as it is.
  public func write(
    toFile path: String, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws(PreferencesError) {
    try PropertyListFile(path: path).write(dictionary(), format: format)
  }
}
