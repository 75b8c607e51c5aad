internal import Foundation

/// An encrypted file of preferences: `PKPREFS1` and a newline, then the encrypted property list or
/// the ``PlainForm`` of a file.
///
/// Files of other programs, which are encrypted property lists without that start, are also read.
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
    guard let list, let values = list.root as? PreferencesDictionary,
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
    // A file without the start has no context either, so removing the start gains nothing.
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
