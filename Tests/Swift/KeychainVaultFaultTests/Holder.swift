import Foundation
import Glibc
import KeychainVaultTesting

/// Holds the lock of a vault, as another process that writes.
struct Holder {
  private let descriptor: Int32

  init(_ vault: TestVault) throws {
    descriptor = open(vault.path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else { throw CocoaError(.fileLocking) }
  }

  func end() { close(descriptor) }
}
