public import Foundation

/// An encrypted file of preferences: `PKPREFS1`, a newline, and an encrypted property list or
/// file's ``PlainForm``.
///
/// Files of other programs, which are encrypted property lists without this start, are also read.
/// An encrypted value is not accepted as a file, even if the cipher ignores contexts.
struct EncryptedFile {
  private static let name = Data("PKPREFS".utf8)
  private static let magic = name + Data("1\n".utf8)

  let path: String
  let cipher: any Cipher

  func read() throws -> (
    values: PreferencesDictionary, format: PropertyListReader.Format?
  ) {
    let plain = try decrypt(contents())
    if plain.starts(with: PlainForm.file.magic) {
      guard let values = try PlainReader.value(of: plain, .file) as? PreferencesDictionary else {
        throw CryptoPrephirencesError.failedToDeserializePropertyList
      }
      return (values, nil)
    }
    let list = try? PropertyListReader.read(plain)
    guard let list, let values = list.root.plain as? PreferencesDictionary,
      // An archived value is a property list, too.
      values["$archiver"] == nil
    else {
      throw CryptoPrephirencesError.failedToDeserializePropertyList
    }
    return (values, list.format)
  }

  func write(_ plain: Data, atomically: Bool = true) throws {
    let encrypted = try cipher.encrypt(plain, authenticating: CipherContext.file)
    do {
      try AtomicFile(path: path).write(Self.magic + encrypted, atomically: atomically)
    } catch {
      throw CryptoPrephirencesError(error)
    }
  }

  private func contents() throws -> Data {
    do {
      return try AtomicFile(path: path).read()
    } catch {
      throw CryptoPrephirencesError(error)
    }
  }

  private func decrypt(_ contents: Data) throws -> Data {
    // A file without the start has no context, so removing the start gains nothing.
    guard contents.starts(with: Self.name) else { return try cipher.decrypt(contents) }
    guard contents.starts(with: Self.magic) else {
      throw CryptoPrephirencesError(.unsupported, "the file is of a newer form, or damaged")
    }
    let encrypted = Data(contents.dropFirst(Self.magic.count))
    return try cipher.decrypt(encrypted, authenticating: CipherContext.file)
  }
}

extension CryptoPrephirencesError {
  fileprivate init(_ error: PreferencesError) {
    self.init(error.code == .notFound ? .notFound : .inputOutput, error.message)
  }
}

extension PreferencesType {
  /// Writes all preferences, with the names of their keys, to an encrypted file.
  ///
  /// The old file stays until the new one is complete and on disk. Only the owner can read a new
  /// file.
  ///
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError`` with
  ///   ``CryptoPrephirencesError/Code/unstorable`` or ``CryptoPrephirencesError/Code/inputOutput``.
  ///   The old file stays.
  public func saveTo(filePath: String, withCipher cipher: any Cipher) throws {
    let plain = try PlainWriter.data(of: dictionary(), .file)
    try EncryptedFile(path: filePath, cipher: cipher).write(plain)
  }
}

extension MutablePreferencesType {
  /// Sets the values of all keys in an encrypted file; other keys do not change.
  ///
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError``; nothing is changed.
  public func loadFrom(filePath: String, withCipher cipher: any Cipher) throws {
    set(dictionary: try EncryptedFile(path: filePath, cipher: cipher).read().values)
  }
}

extension DictionaryPreferences {
  /// Reads preferences from an encrypted file.
  ///
  /// - Throws: The cipher's errors, and ``CryptoPrephirencesError``.
  public convenience init(filePath: String, withCipher cipher: any Cipher) throws {
    self.init(dictionary: try EncryptedFile(path: filePath, cipher: cipher).read().values)
  }
}

extension Plist {
  /// Reads an encrypted file.
  ///
  /// - Parameters:
  ///   - options: Have no effect: values have Swift's types.
  ///   - format: Receives the format of the property list; it does not change if the file was
  ///       written by ``PreferencesType/saveTo(filePath:withCipher:)``, which supports more types.
  ///   - readOptionsMask: Has no effect.
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
  ///   - filePath: The path of the file. Only the owner can read a new file.
  ///   - dictionary: The values by their keys, all of property list types.
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
