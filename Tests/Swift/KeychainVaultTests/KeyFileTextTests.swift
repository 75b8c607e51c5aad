import Foundation
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing
import VaultVectors

@testable import KeychainVault

@Suite("Key files that are guessed easily")
struct KeyFileTextTests {
  @Test(arguments: [
    "correct horse battery staple correct",
    "correcthorsebatterystaplecorrect",
    "Correct-Horse-Battery-Staple-2026!!\n",
    "my very secret pass phrase of the year 2026",
    "Passwort für den Tresor meiner Großmutter 1949",
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk", "11111111111111111111111111111111",
    "                                 ",
  ])
  func fewWordsAreGuessable(_ text: String) throws {
    #expect(KeyFileText.isGuessable(try SecretBytes(copying: text)))
  }

  @Test(arguments: [
    // Ten words from a list of 7,776 have 129 bits.
    "abacus abdomen abide ability able abode abrupt absence absorb abstract",
    "Tr0ub4dor&3-x9!Lq2$Vm7#Kp5@Zw8^Rt6*Ny4(Bc1)",
  ])
  func longTextIsNot(_ text: String) throws {
    #expect(!KeyFileText.isGuessable(try SecretBytes(copying: text)))
  }

  /// In each common notation of random bytes.
  @Test func randomBytesAreNot() throws {
    for _ in 0..<2000 {
      let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
      let forms = [
        bytes.base64EncodedString(), bytes.base64EncodedString() + "\n", bytes.hexadecimal,
        bytes.hexadecimal.uppercased(),
      ]
      for form in forms {
        #expect(!KeyFileText.isGuessable(try SecretBytes(copying: form)), "\(form)")
      }
      #expect(!KeyFileText.isGuessable(try SecretBytes(copying: bytes.bytes)))
    }
  }

  @Test func binaryFileIsNot() throws {
    let control = "correct horse battery staple\u{01} one"
    #expect(!KeyFileText.isGuessable(try SecretBytes(copying: control)))
    let noUTF8 = Data("correct horse battery staple".utf8) + [0xFF, 0xFE, 0xFD, 0xFC]
    #expect(!KeyFileText.isGuessable(try SecretBytes(copying: noUTF8.bytes)))
  }

  @Test func noticeNamesSlotAndFiles() throws {
    let vault = try TestVault()
    let words = try vault.file("words", "correct horse battery staple correct")
    let environment = ["KEYCHAIN_KEY_FILE": words]
    let told = Mutex<[Notice.Kind]>([])
    let handle = vault.handle(environment: environment) {
      $0.notice = { notice in told.withLock { $0.append(notice.kind) } }
    }
    try handle.put("a")
    #expect(told.withLock { $0.count { $0 == .weakKeyFile } } == 1)
    #expect(handle.weakKeyFiles() == ["KEYCHAIN_KEY_FILE"])
    #expect(vault.handle { $0.unlock = .keyFile(words) }.weakKeyFiles() == [words])
    #expect(vault.handle(passphrase: "one", environment: environment).weakKeyFiles().isEmpty)
    #expect(vault.handle { $0.unlock = .keyFile("/none") }.weakKeyFiles().isEmpty)
  }
}
