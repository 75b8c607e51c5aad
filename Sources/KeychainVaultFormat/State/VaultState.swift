package import Foundation
package import KeychainCredentials

/// What a vault says about all of its rows at one moment.
package struct VaultState: Hashable, Sendable {
  package var generation: UInt64
  package var epoch: UInt64

  /// The serial number of the list of members.
  package var serial: UInt64

  /// The hash of the list of members.
  package var listHash: Data
  package var counter: UInt64

  /// The lowest counter of which the chain has an entry.
  package var first: UInt64
  package var items: TreeRoot
  package var tokens: TreeRoot
  package var groups: TreeRoot

  /// The number of the writer's slot, in a shared vault; else 0.
  package var writer: UInt32

  /// The writer's clock in microseconds since 1970, in a shared vault; else 0.
  package var time: Int64

  package init(
    generation: UInt64, epoch: UInt64, serial: UInt64, listHash: Data, counter: UInt64,
    first: UInt64, items: TreeRoot = .empty, tokens: TreeRoot = .empty, groups: TreeRoot = .empty,
    writer: UInt32 = 0, time: Int64 = 0
  ) {
    self.generation = generation
    self.epoch = epoch
    self.serial = serial
    self.listHash = listHash
    self.counter = counter
    self.first = first
    self.items = items
    self.tokens = tokens
    self.groups = groups
    self.writer = writer
    self.time = time
  }

  package var fields: [UInt8] {
    FieldWriter.fields {
      $0.integer(generation)
      $0.integer(epoch)
      $0.integer(serial)
      $0.byteString(listHash)
      $0.integer(counter)
      $0.integer(first)
      for root in [items, tokens, groups] {
        $0.integer(root.count)
        $0.byteString(root.hash)
      }
      $0.integer(writer)
      $0.integer(time)
    }
  }

  /// Returns the first counter of the chain once it has an entry of the next state.
  package static func firstEntry(for counter: UInt64, after first: UInt64) -> UInt64 {
    counter < ChainEntry.length ? first : max(first, counter - ChainEntry.length + 1)
  }

  /// The hash of the state alone, without what came before.
  package func hash() throws(KeychainError) -> Data { try Derivation.hash("pk2/state", fields) }

  init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    generation = try reader.integer(bytes)
    epoch = try reader.integer(bytes)
    serial = try reader.integer(bytes)
    listHash = try reader.data(bytes)
    counter = try reader.integer(bytes)
    first = try reader.integer(bytes)
    (items, tokens, groups) = (.empty, .empty, .empty)
    items = try Self.root(&reader, bytes)
    tokens = try Self.root(&reader, bytes)
    groups = try Self.root(&reader, bytes)
    writer = try reader.integer(bytes)
    time = try reader.integer(bytes)
    guard listHash.count == 32, 1...StateCounter.maximum ~= counter, 1...counter ~= first,
      counter - first < ChainEntry.length
    else { throw FieldReader.Malformed() }
  }

  private static func root(
    _ reader: inout FieldReader, _ bytes: RawSpan
  ) throws(FieldReader.Malformed) -> TreeRoot {
    let root = TreeRoot(
      count: try reader.integer(bytes), hash: try reader.data(bytes))
    guard root.hash.count == 32, root.count <= UInt64(Int64.max),
      (root.count == 0) == (root.hash == TreeRoot.noHash)
    else { throw FieldReader.Malformed() }
    return root
  }
}

/// The counter of a vault's states.
package enum StateCounter {
  /// More changes than any vault has, so that nobody can forge a counter after which there is none.
  package static let maximum: UInt64 = 1 << 48

  /// The maximum increase of a counter between two sights: more changes than a disk can write in
  /// years.
  package static let largestStep: UInt64 = 1 << 32

  /// The greatest counter of a vault that is seen for the first time; a greater one is forged.
  package static let greatestAtFirstSight: UInt64 = 1 << 40

  /// Returns the counter of the next transaction.
  package static func next(after counter: UInt64) throws(KeychainError) -> UInt64 {
    guard counter < maximum else {
      throw KeychainError(
        .damaged, "the counter of the vault is at its end", recovery: .restoreBackup)
    }
    return counter + 1
  }

  /// Returns the counter after a person has accepted a vault.
  ///
  /// If the two counters differ by more than is possible, one is forged, and only the greater one
  /// does harm.
  package static func accepting(
    file found: UInt64, seen: UInt64?
  ) throws(KeychainError) -> UInt64 {
    guard let seen else { return found > greatestAtFirstSight ? 1 : try next(after: found) }
    let (lesser, greater) = (min(found, seen), max(found, seen))
    return try next(after: greater - lesser > largestStep ? lesser : greater)
  }
}
