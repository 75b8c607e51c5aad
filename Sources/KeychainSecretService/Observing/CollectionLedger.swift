internal import Foundation
internal import KeychainCredentials

/// What is known about the items of a collection, to tell what a signal means.
///
/// A signal only says that an item changed, and a change of ours causes up to three. The version in each
/// item tells whether anything happened that was not told yet, and whether this store did it itself.
struct CollectionLedger {
  private struct Entry {
    let identity: CredentialIdentity
    let version: UInt64
  }

  private var entries: [String: Entry] = [:]
  private var ownVersions: Set<UInt64> = []
  private var ownRemovals: Set<String> = []

  /// Notes a version that this store is about to write, and tells of itself.
  mutating func expect(version: UInt64) {
    // Versions are microseconds; a signal that has not come within a minute never will.
    ownVersions = ownVersions.filter { $0 + 60_000_000 > version }
    ownVersions.insert(version)
  }

  /// Notes an item that this store is about to remove, and tells of itself.
  mutating func expectRemoval(of path: String) { ownRemovals.insert(path) }

  /// Takes in an item that is there, and returns what is new about it.
  mutating func note(_ item: ServiceItem) -> [CredentialChange] {
    guard let credential = item.credential else { return [] }
    let old = entries[item.path]
    entries[item.path] = Entry(identity: credential.identity, version: credential.version)
    if item.ours != nil, old?.version == credential.version { return [] }
    guard ownVersions.remove(credential.version) == nil else { return [] }
    guard let old else { return [CredentialChange(credential.identity, .added)] }
    guard old.identity != credential.identity else {
      return [CredentialChange(credential.identity, .updated)]
    }
    return [
      CredentialChange(old.identity, .removed), CredentialChange(credential.identity, .added),
    ]
  }

  /// Takes in an item that is said to be new, as it is of all items of a database that was unlocked.
  mutating func noteCreation(of item: ServiceItem) -> [CredentialChange] {
    isKnown(item) ? [] : note(item)
  }

  /// Takes in that an item is gone.
  mutating func noteRemoval(of path: String) -> [CredentialChange] {
    let isOwn = ownRemovals.remove(path) != nil
    guard let old = entries.removeValue(forKey: path), !isOwn else { return [] }
    return [CredentialChange(old.identity, .removed)]
  }

  /// Takes in all items of the collection; the first time, nothing about them is new.
  mutating func noteAll(_ items: [ServiceItem], isFirst: Bool) -> [CredentialChange] {
    let paths = Set(items.map(\.path))
    let gone = entries.keys.filter { !paths.contains($0) }
    var changes = gone.flatMap { noteRemoval(of: $0) }
    for item in items where !isKnown(item) { changes += note(item) }
    return isFirst ? [] : changes
  }

  /// Whether nothing but a signal could tell that an item has changed: of other programs' items, two
  /// changes within a second have one version.
  private func isKnown(_ item: ServiceItem) -> Bool {
    guard let credential = item.credential, let known = entries[item.path] else { return false }
    return known.version == credential.version && known.identity == credential.identity
  }
}
