import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

@Suite("Test vectors of recovery codes and identities")
struct CodeVectorTests {
  private static let all = VectorCase.load("codes2")

  @Test func thereAreVectors() {
    #expect(Self.all.count > 100)
  }

  @Test(arguments: all)
  func holds(_ vector: VectorCase) throws {
    #expect(try CodeVectorRun(vector: vector).result() == vector.expect)
  }
}

/// Computes a vector with the readers and writers of the keys that people copy.
private struct CodeVectorRun {
  let vector: VectorCase

  /// Returns the result in hexadecimal; `nil` if the input is refused.
  func result() throws -> String? {
    for family in [texts, read] {
      if case .some(let result) = try family() { return result }
    }
    Issue.record("no code runs the operation \(vector.operation)")
    return nil
  }

  // Each family returns nil for an operation of another family, and .some(nil) for a refusal.

  private func texts() throws -> String?? {
    switch vector.operation {
    case "text32":
      try text32().uppercased().utf8.hexadecimal
    case "recovery code":
      try RecoveryCode(vector.secret("code")).text().hexadecimal()
    case "recipient": try given().description.utf8.hexadecimal
    case "fingerprint": try given().fingerprint
    case "identity": try VaultIdentity(seed: vector.secret("seed")).text().hexadecimal()
    case "identity private key":
      try Derivation.key(vector.secret("seed"), "pk2/ident.box").hexadecimal()
    case "identity signing seed":
      try Derivation.key(vector.secret("seed"), "pk2/ident.sign").hexadecimal()
    case "identity public keys":
      try Self.keys(of: VaultIdentity(seed: vector.secret("seed")).recipient)
    default: nil
    }
  }

  private func given() throws -> VaultRecipient {
    try VaultRecipient(
      boxKey: vector.data("publicKey"), signingKey: vector.data("signingKey"))
  }

  private static func keys(of recipient: VaultRecipient) -> String {
    recipient.boxKey.hexadecimal + recipient.signingKey.hexadecimal
  }

  private func text32() throws -> String {
    let text = try Text32.text(vector.secret("data"), sumCount: vector.number("count"))
    return try #require(text.withBytes { $0.text })
  }

  private func read() throws -> String?? {
    switch vector.operation {
    case "decoded recovery code": .some(try recoveryCode())
    case "decoded recipient": .some(try recipient())
    case "decoded identity": .some(try identity())
    case "decoded identity file": .some(try identityFile())
    default: nil
    }
  }

  private func recoveryCode() throws -> String? {
    try accepted(.incorrectSecret) { try RecoveryCode(text: written()).bytes.hexadecimal() }
  }

  private func recipient() throws -> String? {
    try accepted(.invalidArgument) {
      try Self.keys(of: VaultRecipient(text: vector.text("written")))
    }
  }

  /// It has no error of its own, because it is read as part of a file.
  private func identity() throws -> String? {
    let text = try written()
    do throws(Text32.Fault) {
      let seed = try text.withBytes { text throws(Text32.Fault) in
        try VaultIdentity.seed(text: text)
      }
      return seed.hexadecimal()
    } catch {
      return nil
    }
  }

  private func identityFile() throws -> String? {
    try accepted(.incorrectSecret, .unsupportedFormat) {
      let file = try IdentityFile(text: vector.secret("contents"), name: "the vector")
      return file.identity.seed.hexadecimal() + file.pins.map(\.description).joined()
    }
  }

  private func written() throws -> SecretBytes {
    try SecretBytes(copying: vector.text("written"))
  }

  /// Returns the computed value; `nil` if the input is refused with one of these codes.
  private func accepted(
    _ codes: KeychainError.Code..., compute: () throws -> String
  ) throws -> String? {
    do {
      return try compute()
    } catch let error as KeychainError {
      #expect(codes.contains(error.code))
      return nil
    }
  }
}
