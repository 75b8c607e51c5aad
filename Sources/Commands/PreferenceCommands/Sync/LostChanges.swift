internal import PreferencesDurable
internal import PreferencesCore

/// The changes of this machine that were given up for those of others, from now on.
struct LostChanges {
  private let replica: SharedReplica
  private let start: Int64

  init(_ replica: SharedReplica) {
    self.replica = replica
    // A file that is not shared yet has none.
    start = (try? replica.lastFeedEntry()) ?? 0
  }

  /// Their keys, without repetition, the oldest first.
  var keys: [PreferenceKey] {
    var known: Set<[UInt8]> = []
    return ((try? replica.losses(after: start)) ?? []).map(\.key).filter {
      known.insert(Array($0.utf8)).inserted
    }
  }

  /// Returns keys in quotation marks; of many, the first.
  static func names(_ keys: [PreferenceKey]) -> String {
    let names = keys.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
    return keys.count > 5 ? "\(names) and \(keys.count - 5) more" : names
  }
}
