internal import KeychainCredentials

/// A pair `NAME=REFERENCE`, the value of `--env` and `--file`.
///
/// It is not made by the argument parser, whose messages show what it cannot read: that may be a
/// secret.
struct ReferenceAssignment {
  let name: String
  let reference: CredentialReference

  /// Reads a pair; the first equals sign ends the name.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument``.
  init(_ text: String, option: String) throws(KeychainError) {
    guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign != text.startIndex else {
      throw .noAssignment(option)
    }
    let name = String(text[..<sign])
    let value = String(text[text.utf8.index(after: sign)...])
    guard CredentialReference.isReference(value) else { throw .noReference(name, option: option) }
    do throws(KeychainError) {
      reference = try CredentialReference(value)
    } catch {
      throw KeychainError(
        error.code, "\(option) \(name): \(error.message)", recovery: error.recovery)
    }
    self.name = name
  }
}
