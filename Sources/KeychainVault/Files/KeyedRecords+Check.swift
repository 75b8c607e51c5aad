internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension KeyedRecords {
  private static let checkLabel = "check: "

  /// A text with its check, which also ties it to its file's name.
  func sealed(_ text: String, _ fileName: String) throws(KeychainError) -> SecretBytes {
    guard let check = try check(text, fileName) else {
      throw KeychainError(.internalFailure, "there is no device key to write a record with")
    }
    return try SecretBytes(bytesOf: text + Self.checkLabel + check + "\n")
  }

  /// The text of a file, or `nil` if its check does not hold.
  func checked(_ contents: String, _ fileName: String) throws(KeychainError) -> String? {
    guard let range = contents.range(of: Self.checkLabel, options: .backwards) else { return nil }
    let text = String(contents[..<range.lowerBound])
    guard let check = try check(text, fileName), contents[range.upperBound...] == check + "\n"
    else { return nil }
    return text
  }

  private func check(_ text: String, _ fileName: String) throws(KeychainError) -> String? {
    guard let secret = try device.find() else { return nil }
    let fields = FieldWriter.fields { writer in
      writer.text(fileName)
      writer.text(text)
    }
    return try Derivation.shortTag(secret.secret.bytes, "pk1/record.check", fields).hexadecimal
  }
}

extension SecretBytes {
  fileprivate init(bytesOf text: String) throws(KeychainError) {
    do throws(SecretsError) {
      try self.init(copying: text)
    } catch {
      throw KeychainError(error)
    }
  }
}
