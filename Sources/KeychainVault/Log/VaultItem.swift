internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import Synchronization

/// A part of a commit or page, with the places of its boxes; its metadata are opened once.
final class HeldPart: Sendable {
  let part: Part
  let puts: [ItemEntry]
  let boxPlaces: [Int]
  private let opened = Mutex<PartMetadata?>(nil)

  /// Takes the place of its first box.
  init(_ part: Part, boxesAt start: Int) {
    self.part = part
    var places: [Int] = []
    var place = start
    puts = part.puts
    for entry in puts {
      places.append(place)
      place += entry.boxCount
    }
    boxPlaces = places
    boxesEnd = place
  }

  /// The end of its last box.
  let boxesEnd: Int

  /// - Returns: `nil` without the key of its tier.
  /// - Throws: ``KeychainError/Code/damaged``.
  func metadata(_ keys: TierKeys) throws(KeychainError) -> PartMetadata? {
    if let known = opened.withLock({ $0 }) { return keys.key(part.tier) == nil ? nil : known }
    guard let metadata = try part.metadata(keys) else { return nil }
    opened.withLock { $0 = metadata }
    return metadata
  }
}

/// An item as the file, or a transaction that is under way, has it.
struct VaultItem: Sendable {
  let entry: ItemEntry
  let source: Source

  enum Source: Sendable {
    /// The number of its entry among those of the part.
    case stored(HeldPart, Int)
    case pending(SealedItem)
  }

  var id: ItemID { entry.id }
  var accessibility: Accessibility { entry.accessibility }
  var name: String { entry.id.name }

  /// What an unlock must give to open it.
  var requirement: Accessibility.UnlockRequirement { entry.accessibility.unlockRequirement }

  init(_ entry: ItemEntry, in part: HeldPart, _ index: Int) {
    self.entry = entry
    source = .stored(part, index)
  }

  init(_ item: SealedItem) {
    entry = item.entry
    source = .pending(item)
  }

  /// Its metadata, as they are sealed.
  ///
  /// - Throws: ``KeychainError/Code/locked`` without the key of its tier, ``KeychainError/Code/damaged``.
  func metadata(_ keys: TierKeys, name: @autoclosure () -> String) throws(KeychainError)
    -> (PartMetadata, Int)
  {
    switch source {
    case .stored(let part, let index):
      guard let metadata = try part.metadata(keys) else { throw .locked(name()) }
      return (metadata, index)
    case .pending(let item): return (PartMetadata(item.metadata), 0)
    }
  }

  /// The box of its secret, as the file has it now; whoever opens it compares its hash.
  func box(in contents: VaultContents) throws(KeychainError) -> Data {
    switch source {
    case .stored(let part, let index):
      let place = part.boxPlaces[index]
      return try contents.read(place..<place + entry.boxCount)
    case .pending(let item): return item.box
    }
  }
}

extension ItemSealing {
  /// What is known of an item but its secret.
  func credential(
    of item: VaultItem, name: @autoclosure () -> String
  ) throws(KeychainError) -> Credential {
    guard !isOfOtherDevice(item.entry) else { throw .otherDevice(name()) }
    let (metadata, index) = try item.metadata(keys, name: name())
    return try credential(metadata, at: index, of: item.entry, name: name())
  }

  /// The secret of an item.
  func secret(
    of item: VaultItem, in contents: VaultContents, name: @autoclosure () -> String
  ) throws(KeychainError) -> SecretBytes {
    try secret(in: item.box(in: contents), of: item.entry, name: name())
  }
}
