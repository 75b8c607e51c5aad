internal import ArgumentParser
internal import KeychainVault

/// What a member of a shared vault may do, as an argument.
///
/// Programs depend on these words, so they are independent of names in the code.
enum SharedGrant: String, ExpressibleByArgument, CaseIterable {
  case administer, write, read

  /// Creates the word for a grant; `nil` for one that no member of a shared vault has.
  init?(_ grant: SlotGrant) {
    switch grant {
    case .administers: self = .administer
    case .readsAndWrites: self = .write
    case .reads: self = .read
    case .openTier: return nil
    }
  }

  var grant: SlotGrant {
    switch self {
    case .administer: .administers
    case .write: .readsAndWrites
    case .read: .reads
    }
  }
}
