internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesShared

/// The address of shared stores, compared by what it names.
struct SharedAddress {
  private let address: EtcdAddress

  /// - Throws: `PreferencesError`, if it is none.
  init(_ text: String) throws(PreferencesError) {
    do throws(EtcdError) {
      address = try EtcdAddress(text)
    } catch {
      throw PreferencesError(error)
    }
  }

  /// The prefix of all stores, without slashes around it.
  var prefix: [Substring] { address.prefix.split(separator: "/") }

  /// Whether both name one of the same members of a cluster, or leave that to the environment.
  func isSameEngine(as other: SharedAddress) -> Bool {
    guard address.usesTLS == other.address.usesTLS else { return false }
    let (ours, theirs) = (Set(address.endpoints), Set(other.address.endpoints))
    return ours == theirs || !ours.isDisjoint(with: theirs)
  }
}
