internal import KeychainCredentials
internal import PrephirencesSystem

extension ServiceOperation {
  /// Returns the path of the store's collection; for the default one, its alias, which always
  /// works.
  func collectionPath() throws(KeychainError) -> String? {
    switch configuration.collection {
    case .default: Self.defaultAlias
    case .session: SecretServiceCollection.sessionPath
    case .named(let name): try ServiceOperation.isPath(name) ? name : collectionPath(label: name)
    }
  }

  private static let defaultAlias = servicePath + "/aliases/default"

  /// The call for the current default collection.
  var defaultCollectionQuestion: BusCall {
    service("ReadAlias", [.string("default")], reply: .values("o"))
  }

  /// Returns the path of the default collection itself, instead of its alias.
  ///
  /// While gnome-keyring registers its objects again, it may report that there is none.
  func defaultCollectionPath() throws(KeychainError) -> String {
    var path = try answer(to: defaultCollectionQuestion).elements.first?.text
    try whileMissing({ path == "/" }) { () throws(KeychainError) in
      path = try answer(to: defaultCollectionQuestion).elements.first?.text
    }
    guard let path, path != "/" else { throw noCollection }
    return path
  }

  /// Returns whether the name of a collection is an object path, which labels never look like.
  static func isPath(_ name: String) -> Bool {
    name.hasPrefix(servicePath + "/") && !name.hasSuffix("/") && !name.contains("//")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "/"):
          true
        default: false
        }
      }
  }

  private func collectionPath(label: String) throws(KeychainError) -> String? {
    guard !label.isEmpty else {
      throw KeychainError(
        .invalidArgument, "the name of the collection is empty",
        recovery: "use its label or object path")
    }
    let list = try answer(
      to: getProperty(Self.servicePath, Self.serviceInterface, "Collections", "ao"))
    // The collection that ends with the session is not found by a label: gnome-keyring's has none.
    let paths = (list.elements.first?.texts ?? []).filter {
      $0 != SecretServiceCollection.sessionPath
    }
    let labels = results(
      of: paths.map { getProperty($0, Self.collectionInterface, "Label", "s") })
    let found = zip(paths, labels).filter { _, answer in
      (try? answer.get())?.elements.first?.text?.hasSameBytes(as: label) ?? false
    }
    guard found.count < 2 else {
      throw KeychainError(
        .ambiguous,
        "\(found.count) collections are called '\(label)': "
          + found.map(\.0).joined(separator: ", "),
        recovery: "name one by its object path")
    }
    return found.first?.0
  }

  /// The error if the collection does not exist.
  var noCollection: KeychainError {
    switch configuration.collection {
    case .default:
      KeychainError(
        .noStore, "the desktop keyring has no default collection",
        recovery: "make a keyring or open a database at the desktop, or use the vault")
    case .session:
      KeychainError(
        .noStore, "this provider of the Secret Service has no collection for the session only",
        recovery: "use the default collection")
    case .named(let label):
      KeychainError(
        .noStore, "the desktop keyring has no collection '\(label)'",
        recovery: "make it at the desktop, or use the default collection")
    }
  }

  /// Unlocks a collection or an item, which may require asking a person.
  func unlock(_ path: String) throws(KeychainError) {
    // Providers unlock objects, not aliases.
    let object = path == Self.defaultAlias ? try defaultCollectionPath() : path
    let answer = try answer(
      to: service("Unlock", [.objectPaths([object])], reply: .values("aoo"))
    ).elements
    guard answer.count == 2, let prompt = answer[1].text else { throw .lockedKeyring }
    guard prompt != "/" else {
      guard !answer[0].texts.isEmpty else { throw .lockedKeyring }
      return
    }
    try run(
      prompt: prompt,
      .lasting { operation throws(KeychainError) in try operation.unlock(path) },
      ifDenied: .lockedKeyring)
  }
}
