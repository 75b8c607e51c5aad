/// A secret with several owners; it is wiped when the last owner releases it.
package final class SharedSecret: Sendable {
  package let bytes: SecretBytes

  package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  package convenience init(copying bytes: borrowing SecretBytes) throws(KeychainError) {
    self.init(try bytes.copy())
  }

  package func copy() throws(KeychainError) -> SecretBytes { try bytes.copy() }
}
