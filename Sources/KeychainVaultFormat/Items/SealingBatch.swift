package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// What the items of one transaction share if there are many.
///
/// Each use of guarded memory costs several system calls, which is more than sealing a small item.
package final class SealingBatch {
  private struct GroupName: Hashable {
    let accessibility: Accessibility
    let name: [UInt8]
  }

  private var scratch: SecretBuffer
  private var groupKeys: [GroupName: SharedSecret] = [:]

  /// Longer texts are padded in their own memory, so that the batch does not keep as much.
  private static let scratchLimit = 1 << 20

  package init() throws(KeychainError) {
    do throws(SecretsError) { scratch = try SecretBuffer() } catch { throw KeychainError(error) }
  }

  package func sealPadded(
    _ message: borrowing SecretBytes, with key: borrowing SecretBytes
  ) throws(KeychainError) -> Data {
    guard message.count <= Self.scratchLimit else {
      return try Sealing.sealPadded(message, with: key)
    }
    do throws(SecretsError) {
      try scratch.replaceAll(byPadding: message)
      return Data(try SecretBox.seal(scratch, with: key))
    } catch {
      throw KeychainError(error)
    }
  }

  /// Returns the key of a group, which is derived only once.
  package func groupKey(
    _ accessibility: Accessibility, _ group: String,
    _ derive: () throws(KeychainError) -> GroupKey
  ) throws(KeychainError) -> GroupKey {
    let name = GroupName(accessibility: accessibility, name: Array(group.utf8))
    if let known = groupKeys[name] { return GroupKey(try known.copy()) }
    let new = try derive()
    groupKeys[name] = try SharedSecret(copying: new.key)
    return new
  }
}
