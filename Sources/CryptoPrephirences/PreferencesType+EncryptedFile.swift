public import Foundation

extension PreferencesType {
  /// Writes all preferences into an encrypted file, with the names of their keys.
  ///
  /// The old file stays until the new one is complete and on disk. A new file is closed to others.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: What encrypts it.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError``:
  ///   ``CryptoPrephirencesError/Code/unstorable`` or
  ///   ``CryptoPrephirencesError/Code/inputOutput``. The old file stays as it is.
  public func saveTo(filePath: String, withCipher cipher: any Cipher) throws {
    let plain = try PlainWriter.data(of: dictionary(), .file)
    try EncryptedFile(path: filePath, cipher: cipher).write(plain)
  }
}

extension MutablePreferencesType {
  /// Sets the values of all keys in an encrypted file; other keys stay as they are.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: What decrypts it.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError``; then nothing is changed.
  public func loadFrom(filePath: String, withCipher cipher: any Cipher) throws {
    set(dictionary: try EncryptedFile(path: filePath, cipher: cipher).read().values)
  }
}

extension DictionaryPreferences {
  /// Reads preferences from an encrypted file.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: What decrypts it.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError``.
  public convenience init(filePath: String, withCipher cipher: any Cipher) throws {
    self.init(dictionary: try EncryptedFile(path: filePath, cipher: cipher).read().values)
  }
}

extension Plist {
  /// Reads an encrypted file.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file.
  ///   - cipher: What decrypts it.
  ///   - options: How to read the property list.
  ///   - format: Where to put the format of the property list; it stays as it is if the file is one
  ///     of ``PreferencesType/saveTo(filePath:withCipher:)``, which keeps more types.
  ///   - readOptionsMask: Without effect.
  /// - Returns: The values by their keys.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError``.
  public static func readFrom(
    _ filePath: String, withCipher cipher: any Cipher,
    options: PropertyListSerialization.ReadOptions = .mutableContainersAndLeaves,
    format: UnsafeMutablePointer<PropertyListSerialization.PropertyListFormat>? = nil,
    readOptionsMask: Data.ReadingOptions = []
  ) throws -> PreferencesDictionary {
    let file = try EncryptedFile(path: filePath, cipher: cipher).read(options)
    if let found = file.format { unsafe format?.pointee = found }
    return file.values
  }

  /// Writes values into an encrypted file, as a property list.
  ///
  /// - Parameters:
  ///   - filePath: The path of the file. A new file is closed to others.
  ///   - cipher: What encrypts it.
  ///   - dictionary: The values by their keys, all of types that property lists have.
  ///   - format: The format of the property list; XML rounds dates to seconds.
  ///   - options: How to write the property list.
  ///   - writeOptionMask: With `.atomic`, the old file stays until the new one is complete.
  /// - Throws: What the cipher throws, and ``CryptoPrephirencesError``.
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
