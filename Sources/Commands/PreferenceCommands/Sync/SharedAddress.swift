internal import FoundationEssentials
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesEtcd

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

  /// Returns an address with the path of another one.
  static func address(_ text: String, withPathOf other: String) -> String {
    let start = pathStart(text)
    return String(text[..<start] + other[pathStart(other)...])
  }

  private static func pathStart(_ text: String) -> String.Index {
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    return text[start...].firstIndex(of: "/") ?? text.endIndex
  }

  /// Whether both name one of the same members of a cluster.
  func isSameEngine(as other: SharedAddress) -> Bool {
    guard address.usesTLS == other.address.usesTLS else { return false }
    let (ours, theirs) = (Set(address.endpoints), Set(other.address.endpoints))
    return ours == theirs || !ours.isDisjoint(with: theirs)
  }
}
