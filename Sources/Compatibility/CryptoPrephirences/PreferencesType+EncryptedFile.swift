public import Foundation

extension PreferencesType {
  /// Writes all preferences to an encrypted file, including the names of their keys.
  ///
  /// The old file stays until the new one is complete and on disk. A new file is readable by its
  /// owner only.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: The cipher that encrypts the file.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/unstorable`` or ``CryptoPrephirencesError/Code/inputOutput``.
  ///   The old file stays.
  public func saveTo(filePath: String, withCipher cipher: any Cipher) throws {
    let plain = try PlainWriter.data(of: dictionary(), .file)
    try EncryptedFile(path: filePath, cipher: cipher).write(plain)
  }
}

extension MutablePreferencesType {
  /// Sets the values of all keys in an encrypted file; other keys keep theirs.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: The cipher that decrypts the file.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError``; nothing is changed.
  public func loadFrom(filePath: String, withCipher cipher: any Cipher) throws {
    set(dictionary: try EncryptedFile(path: filePath, cipher: cipher).read().values)
  }
}

extension DictionaryPreferences {
  /// Reads preferences from an encrypted file.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: The cipher that decrypts the file.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError``.
  public convenience init(filePath: String, withCipher cipher: any Cipher) throws {
    self.init(dictionary: try EncryptedFile(path: filePath, cipher: cipher).read().values)
  }
}

extension Plist {
  /// Reads an encrypted file.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: The cipher that decrypts the file.
  ///   - options: Have no effect: values are of Swift's types.
  ///   - format: Receives the format of the property list; it does not change if the file was
  ///     written by ``PreferencesType/saveTo(filePath:withCipher:)``, which supports more types.
  ///   - readOptionsMask: Has no effect.
  /// - Returns: The values by their keys.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError``.
  public static func readFrom(
    _ filePath: String, withCipher cipher: any Cipher,
    options: PropertyListSerialization.ReadOptions = .mutableContainersAndLeaves,
    format: UnsafeMutablePointer<PropertyListSerialization.PropertyListFormat>? = nil,
    readOptionsMask: Data.ReadingOptions = []
  ) throws -> PreferencesDictionary {
    let file = try EncryptedFile(path: filePath, cipher: cipher).read()
    if let found = file.format { unsafe format?.pointee = found.foundationFormat }
    return file.values
  }

  /// Writes values to an encrypted file, as a property list.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file. A new file is readable by its owner only.
  ///   - cipher: The cipher that encrypts the file.
  ///   - dictionary: The values by their keys, all of types that property lists have.
  ///   - format: The format of the property list; XML rounds dates to seconds.
  ///   - options: How to write the property list.
  ///   - writeOptionMask: With `.atomic`, the old file stays until the new one is complete.
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError``.
  public static func writeTo(
    _ filePath: String, withCipher cipher: any Cipher, dictionary: PreferencesDictionary,
    format: PropertyListSerialization.PropertyListFormat = .xml,
    options: PropertyListSerialization.WriteOptions = 0,
    writeOptionMask: Data.WritingOptions = .atomic
  ) throws {
    guard PropertyListSerialization.propertyList(dictionary, isValidFor: format),
      let plain = try? PropertyListSerialization.data(
        fromPropertyList: dictionary, format: format, options: options)
    else {
      throw CryptoPrephirencesError(
        .unstorable, "a value is not of a type that property lists can hold")
    }
    try EncryptedFile(path: filePath, cipher: cipher)
      .write(plain, atomically: writeOptionMask.contains(.atomic))
  }
}
