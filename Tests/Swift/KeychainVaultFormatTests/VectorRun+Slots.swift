import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func slots() throws -> String?? {
    switch vector.operation {
    case "passphrase input key":
      try SlotSealing.passphraseKey(
        SecretBytes(copying: vector.text("passphrase")), salt: vector.data("salt"),
        parameters: parameters()
      ).hexadecimal()
    case "passphrase parameters": try parameters().encoded.hexadecimal
    case "key file input key": try KeyFile.inputKey(vector.secret("contents")).hexadecimal()
    case "slot": try slotRow().fields.hexadecimal
    case "slot hash": try Derivation.hash("pk3/slot", vector.bytes("slot")).hexadecimal
    case "checked slot":
      .some(try SlotRow(encoded: vector.data("slot"))?.fields.hexadecimal)
    case "opened slot": .some(try openedSlot())
    default: nil
    }
  }

  func slotKeys() throws -> String?? {
    switch vector.operation {
    case "slot header": try header().fields(in: id()).hexadecimal
    case "slot commitment": try tag("key", "pk3/slot.commit")
    case "slot private key": try tag("inputKey", "pk3/slot.box")
    case "slot signing seed":
      try keysOfSlot().signer(1).seed.bytes.hexadecimal()
    case "slot public key": try keysOfSlot().boxKey.hexadecimal
    case "slot signing key": try keysOfSlot().signingKey().hexadecimal
    default: nil
    }
  }

  private func tag(_ key: String, _ label: String) throws -> String {
    try Derivation.tag(vector.secret(key), label, header().fields(in: id())).hexadecimal
  }

  private func keysOfSlot() throws -> SlotKeys {
    try header().keys(vector.secret("inputKey"), in: id())
  }

  private func parameters() throws -> PasswordHash.Parameters {
    try PasswordHash.Parameters(memory: vector.number("memory"), passes: vector.number("passes"))
  }

  private func header() throws -> SlotRow {
    try SlotRow(
      number: vector.number("number"), kind: kind(), grant: .reads,
      parameters: vector.data("parameters"), salt: vector.data("salt"), made: vector.data("made"))
  }

  private func kind() throws -> SlotKind {
    try #require(SlotKind(rawValue: vector.number("kind")))
  }

  private func slotRow() throws -> SlotRow {
    let grant = try #require(SlotGrant(rawValue: vector.number("grant")))
    var slot = try header()
    slot.grant = grant
    slot.commitment = try vector.data("commitment")
    slot.box = try vector.data("box")
    return slot
  }

  /// Returns the granted keys and the binding.
  private func openedSlot() throws -> String? {
    guard let slot = try SlotRow(encoded: vector.data("slot")) else { return nil }
    let opened: SlotSealing.Opened?
    do throws(KeychainError) {
      opened = try open(slot)
    } catch {
      #expect(error.code == .damaged)
      return nil
    }
    guard let opened else { return nil }
    return opened.granted.parts.map { $0.bytes.hexadecimal() }.joined()
      + opened.binding.hexadecimal
  }

  private func open(_ slot: SlotRow) throws(KeychainError) -> SlotSealing.Opened? {
    do {
      if vector.inputs.hex["seed"] != nil {
        return try SlotSealing.open(
          slot, identity: VaultIdentity(seed: vector.secret("seed")), vault: id())
      }
      return try SlotSealing.open(slot, inputKey: vector.secret("inputKey"), vault: id())
    } catch let error as KeychainError {
      throw error
    } catch {
      throw KeychainError(.internalFailure, "the vector cannot be read: \(error)")
    }
  }
}
