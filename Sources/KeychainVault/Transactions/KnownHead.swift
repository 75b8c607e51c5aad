internal import Synchronization

/// The checks and slots that were read last, and what was proved.
///
/// The head is only a hint: each transaction checks it.
final class KnownHead: Sendable {
  /// What the handle has checked.
  let proofs = KnownProofs()

  private let head = Mutex<VaultHead?>(nil)

  var value: VaultHead? {
    get { head.withLock { $0 } }
    set { head.withLock { $0 = newValue } }
  }
}
