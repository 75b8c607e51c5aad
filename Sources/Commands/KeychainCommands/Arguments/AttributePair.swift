internal import ArgumentParser
internal import KeychainCredentials

/// A pair `name=value`, the value of the option `--attribute`.
struct AttributePair: Hashable, Sendable {
  let name: String
  let value: String

  /// Reads a pair; the first equals sign ends the name.
  init(parsing text: String) throws {
    let parts = text.utf8.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw ValidationError(UsageText.attribute)
    }
    name = String(Substring(parts[0]))
    value = String(Substring(parts[1]))
  }
}

extension CredentialAttributes {
  /// The attributes of pairs; the last of equal names wins.
  init(_ pairs: [AttributePair]) {
    self.init()
    for pair in pairs { self[pair.name] = pair.value }
  }
}
