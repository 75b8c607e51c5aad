import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func state() throws -> String?? {
    switch vector.operation {
    case "state": try vaultState().fields.hexadecimal
    case "state hash": try vaultState().hash().hexadecimal
    case "chain digest": try chained(signer: nil).digest.hexadecimal
    case "state signature":
      try chained(signer: StateSigner(number: 4, seed: SharedSecret(vector.secret("seed"))))
        .signature?.hexadecimal
    case "opened state": .some(try openedState())
    case "opened chain entry": .some(try openedEntry())
    case "chain place":
      try number(UInt64(ChainEntry.place(of: vector.number("counter"))))
    case "first entry of the chain":
      try number(
        VaultState.firstEntry(for: vector.number("counter"), after: vector.number("first")))
    default: nil
    }
  }

  private func number(_ value: UInt64) -> String {
    FieldWriter.fields { $0.integer(value) }.hexadecimal
  }

  private func vaultState() throws -> VaultState {
    let roots = try (0..<3).map {
      try TreeRoot(count: vector.number("count\($0)"), hash: vector.data("root\($0)"))
    }
    return try VaultState(
      generation: vector.number("generation"), epoch: vector.number("epoch"),
      serial: vector.number("serial"), listHash: vector.data("listHash"),
      counter: vector.number("counter"), first: vector.number("first"), items: roots[0],
      tokens: roots[1], groups: roots[2], writer: vector.number("writer"),
      time: vector.number("time"))
  }

  private func chained(signer: StateSigner?) throws -> ChainedState {
    try ChainedState(vaultState(), after: vector.data("previous"), signer: signer)
  }

  private func openedState() throws -> String? {
    try unlessDamaged {
      let chained = try ChainedState.open(vector.data("box"), under: vector.secret("tier0"))
      let rest = FieldWriter.fields {
        $0.byteString(chained.previous)
        $0.optional(chained.signature) { $0.byteString($1) }
      }
      return (chained.state.fields + rest).hexadecimal
    }
  }

  private func openedEntry() throws -> String? {
    let box = try vector.data("box")
    let open = try vector.secret("tier0")
    let entry = try ChainEntry.open(box, counter: vector.number("counter"), under: open)
    guard let entry else { return nil }
    return FieldWriter.fields {
      $0.integer(entry.counter)
      $0.byteString(entry.previous)
      $0.byteString(entry.stateHash)
      $0.integer(entry.writer)
      $0.integer(entry.time)
    }.hexadecimal
  }

  func files() throws -> String?? {
    switch vector.operation {
    case "seen record": try seenRecord().encoded.hexadecimal
    case "decoded seen record":
      .some(try SeenRecord(encoded: vector.data("record"))?.encoded.hexadecimal)
    case "seen name": try SeenRecord.name(of: vector.text("path"))
    case "cache name": try Data(CachedKey.name(tier(), of: id()).utf8).hexadecimal
    case "cache payload":
      try CachedKey.payload(
        limit: vector.secret("limit").withBytes { $0.littleEndian(at: 0, as: UInt64.self) },
        binding: KeyBinding(bytes: vector.data("binding")), key: vector.secret("tierKey")
      ).hexadecimal()
    default: nil
    }
  }

  private func seenRecord() throws -> SeenRecord {
    let zeros = Data(repeating: 0, count: 32)
    let (next, recovery) = (try vector.data("nextAdministration"), try vector.data("recoveryKey"))
    return try SeenRecord(
      id: id(), administration: vector.data("administration"),
      nextAdministration: next == zeros ? nil : next,
      recoveryKey: recovery == zeros ? nil : recovery,
      state: SeenState(
        epoch: vector.number("epoch"), serial: vector.number("serial"),
        listHash: vector.data("listHash"), counter: vector.number("counter"),
        digest: vector.data("digest")))
  }
}
