package import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

extension VaultHead {
  /// The fields of a head after its lengths.
  struct Fields {
    let id: VaultID
    let epoch: UInt64
    let checks: VaultChecks
    let administration: Data
    let hasFeatures: Bool
    let slots: [Data]
    let list: Data
    let administrationBox: Data
    let successions: [Data]

    init(_ bytes: RawSpan) throws(FieldReader.Malformed) {
      var reader = FieldReader()
      _ = try reader.fixed(bytes, VaultHead.prefixCount)
      id = VaultID(bytes: try reader.data(bytes, count: VaultID.count))
      epoch = try reader.integer(bytes)
      checks = VaultChecks(
        open: try reader.data(bytes, count: 16), first: try reader.data(bytes, count: 16),
        unlocked: try reader.data(bytes, count: 16))
      administration = try reader.data(bytes, count: 32)
      let features = try reader.count(bytes, ofSize: 4)
      for _ in 0..<features { _ = try reader.text(bytes) }
      hasFeatures = features > 0
      slots = try Self.list(&reader, bytes, maximumCount: MemberList.maximumCount)
      list = try reader.data(bytes)
      administrationBox = try reader.data(bytes)
      successions = try Self.list(&reader, bytes, maximumCount: .max)
      try reader.end(bytes)
      guard 1...VaultHead.greatestEpoch ~= epoch else { throw FieldReader.Malformed() }
    }

    private static func list(
      _ reader: inout FieldReader, _ bytes: RawSpan, maximumCount: Int
    ) throws(FieldReader.Malformed) -> [Data] {
      let count = try reader.count(bytes, ofSize: 4)
      guard count <= maximumCount else { throw FieldReader.Malformed() }
      var list: [Data] = []
      for _ in 0..<count { list.append(try reader.data(bytes)) }
      return list
    }
  }

  /// The slots of a head by what can be done with them.
  struct StoredSlots {
    private(set) var known: [SlotRow] = []
    private(set) var malformed: Set<SlotKind?> = []

    /// Reads slots; `nil` if there are too many passphrases, or two slots of one number.
    init?(_ slots: [Data]) {
      var numbers: Set<UInt32> = []
      var passphraseCount = 0
      for slot in slots {
        guard let start = SlotStart(slot) else {
          malformed.insert(nil)
          continue
        }
        guard numbers.insert(start.number).inserted else { return nil }
        if start.kind == .passphrase { passphraseCount += 1 }
        if let row = SlotRow(encoded: slot) {
          known.append(row)
        } else if let kind = start.kind {
          malformed.insert(kind)
        }
      }
      guard passphraseCount <= MemberList.maximumPassphraseCount else { return nil }
    }
  }

  /// Encodes a head.
  ///
  /// The slots are encoded, in the order in which they are tried. The length of the head itself is
  /// computed. The result must not be longer than ``maximumCount``.
  package static func encode(
    id: VaultID, epoch: UInt64, checks: VaultChecks, administration: Data, slots: [Data],
    list: Data, administrationBox: Data, successions: [Data], lengths: Lengths
  ) -> Data {
    let count = count(
      slots: slots, list: list, administrationBox: administrationBox, successions: successions)
    let fields = FieldWriter.fields(capacity: count) { writer in
      writer.append(Data(magic))
      writer.integer(format)
      for length in [count, lengths.index, lengths.spine] {
        writer.integer(UInt32(truncatingIfNeeded: length))
      }
      writer.integer(UInt64(truncatingIfNeeded: lengths.log))
      writer.append(id.bytes)
      writer.integer(epoch)
      for tier in Tier.allCases { writer.append(checks[tier]) }
      writer.append(administration)
      // Format 3 defines no features.
      writer.integer(UInt32(0))
      writer.list(slots)
      writer.byteString(list)
      writer.byteString(administrationBox)
      writer.list(successions)
    }
    return Data(copying: fields)
  }

  /// Returns the number of bytes of a head, which does not depend on the lengths of other parts.
  package static func count(
    slots: [Data], list: Data, administrationBox: Data, successions: [Data]
  ) -> Int {
    let fixed = prefixCount + VaultID.count + 8 + 3 * 16 + 32
    return (slots + [list, administrationBox] + successions).reduce(fixed + 3 * 4) {
      $0 + 4 + $1.count
    }
  }
}

/// The fields at the beginning of every slot, whatever its kind.
struct SlotStart {
  let number: UInt32
  let kindNumber: UInt8
  let grantNumber: UInt8

  var kind: SlotKind? { SlotKind(rawValue: kindNumber) }
  var grant: SlotGrant? { SlotGrant(rawValue: grantNumber) }

  /// `nil` if the slot is too short.
  init?(_ slot: Data) {
    guard slot.count >= 6 else { return nil }
    let bytes = slot.bytes
    number = bytes.littleEndian(at: 0, as: UInt32.self)
    kindNumber = bytes.byte(at: 4)
    grantNumber = bytes.byte(at: 5)
  }
}

extension FieldWriter {
  /// Writes the number of byte strings, then each of them.
  fileprivate mutating func list(_ values: [Data]) {
    integer(UInt32(truncatingIfNeeded: values.count))
    for value in values { byteString(value) }
  }
}
