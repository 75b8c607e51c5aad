internal import KeychainCredentials
internal import KeychainSecrets

/// A root key with what opened it.
struct OpenedRoot: ~Copyable {
  let root: SecretBytes
  let opener: RootOpener

  /// Lets go of what opened it.
  consuming func takeRoot() -> SecretBytes { root }
}

/// What opened the root key: its slot is the one that a person means, and is sealed anew by it.
final class RootOpener: Sendable {
  let slot: SlotRow

  /// The secret that was presented; `nil` for the device secret.
  let presented: PresentedSecret?

  init(_ slot: SlotRow, _ presented: consuming PresentedSecret?) {
    self.slot = slot
    self.presented = presented
  }
}
