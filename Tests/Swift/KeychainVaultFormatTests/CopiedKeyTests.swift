import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import Testing
import VaultVectors

/// The expected values were computed by a Python program that shares no code with this one.
@Suite("Keys that people copy")
struct CopiedKeyTests {
  @Test(arguments: [
    ("00000000000000000000000000000000", "0000-0000-0000-0000-0000-0000-0133-QREN"),
    ("ffffffffffffffffffffffffffffffff", "ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZXX6-JGD2"),
    ("000102030405060708090a0b0c0d0e0f", "000G-40R4-0M30-E209-185G-R38E-1ZWM-EYWH"),
    ("6b86b273ff34fce19d6b804eff5a3f57", "DE3B-4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61DD"),
  ])
  func aRecoveryCodeIsWrittenDown(_ bytes: String, _ text: String) throws {
    let code = try Self.code(text)
    #expect(code.bytes.hexadecimal() == bytes)
    #expect(try code.text().withBytes { $0.text } == text)
  }

  @Test(arguments: [
    "000g-40r4-0m30-e209-185g-r38e-1zwm-eywh", "000G40R40M30E209185GR38E1ZWMEYWH",
    " ooog-4or4-om3o-e2o9-l85g-r38e-izwm-eywh\r\n",
    "OOOG 4OR4 OM3O E2O9 I85G R38E LZWM EYWH",
    "0-0-0-G-4-0-R-4\t0M30\n\n E209185GR38E1ZWM-EYWH--",
  ])
  func recoveryCodeIsReadInAnySpelling(_ text: String) throws {
    #expect(try Self.code(text).bytes.hexadecimal() == "000102030405060708090a0b0c0d0e0f")
  }

  /// A 32-bit sum misses one error in four thousand million; these are all found.
  @Test func aSlipAtAnyPlaceIsFound() throws {
    let text = Array("DE3B4WZZ6KYE37BBG17FYPHZAYS061DD")
    for index in text.indices {
      for other in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" where other != text[index] {
        var slip = text
        slip[index] = other
        #expect(Self.failure(String(slip))?.code == .incorrectSecret)
      }
      guard index > 0, text[index] != text[index - 1] else { continue }
      var swapped = text
      swapped.swapAt(index, index - 1)
      #expect(Self.failure(String(swapped))?.message.contains("mistyped") == true)
    }
  }

  @Test(arguments: [
    "", "-", "DE3B", "DE3B-4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61D",
    "DE3B-4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61DD0", "DE3B-4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61DU",
    "DE3B_4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61DD", "DE3B-4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61D\u{130}",
    "DE3B-4WZZ-6KYE-37BB-G17F-YPHZ-AYS0-61DD\u{A0}", "\u{0}",
  ])
  func invalidRecoveryCodeIsRefused(_ text: String) {
    let failure = Self.failure(text)
    #expect(failure?.code == .incorrectSecret)
    #expect(failure?.message.contains("mistyped") == true)
  }

  @Test(arguments: [
    (
      "pksec2-000g40r40m30e209185gr38e1w8124gk2gahc5rr34d1p70x3rfz76hc",
      "pkpub2-f0rdfys33960b4s8h3pbv1kcxhr0jrbrxtntj59acc91as3ntsng10dff"
        + "kzrsmnwaeasvb87g5zpqn67vray96we3a0b1m8nps6wp1026xdpchb5"
    ),
    (
      "PKSEC2-QABQHH69VDPJXCPF016ND10T9EJ2ZMSG0B5J12ZASVEEH7E4DT14VQE7",
      "pkpub2-e4f9689hfcv5230sx6xcg03ns0wddy2757cg82mdnpyyvanw3r87jf2vq"
        + "yq9r08dc8kpf8k4wk7ecg4r3jdps703aq5w7sykmxcphf95k9ggyf1w"
    ),
  ])
  func anIdentityHasItsRecipient(_ identity: String, _ recipient: String) throws {
    let bytes = try SecretBytes(copying: identity)
    let seed = try bytes.withBytes { text throws(Text32.Fault) in
      try VaultIdentity.seed(text: text)
    }
    let found = try VaultIdentity(seed: seed)
    #expect(found.recipient.description == recipient)
    #expect(try found.text().withBytes { $0.text } == identity.lowercased())
    #expect(try VaultRecipient(text: " \(recipient.uppercased())\n") == found.recipient)
  }

  @Test(arguments: [
    "", "pkpub2-", recipientLetters, "pksec2-" + recipientLetters, "pkpub1-" + recipientLetters,
    "pkpub2-" + recipientLetters.dropLast(), "pkpub2-z" + recipientLetters.dropFirst(),
  ])
  func invalidRecipientIsRefused(_ text: String) {
    let failure = #expect(throws: KeychainError.self) { try VaultRecipient(text: text) }
    #expect(failure?.code == .invalidArgument)
  }

  private static let recipientLetters =
    "e4f9689hfcv5230sx6xcg03ns0wddy2757cg82mdnpyyvanw3r87jf2vqyq9r08d"
    + "c8kpf8k4wk7ecg4r3jdps703aq5w7sykmxcphf95k9ggyf1w"

  private static func code(_ text: String) throws -> RecoveryCode {
    try RecoveryCode(text: SecretBytes(copying: text))
  }

  private static func failure(_ text: String) -> KeychainError? {
    do {
      _ = try code(text)
      return nil
    } catch {
      return error as? KeychainError
    }
  }
}
