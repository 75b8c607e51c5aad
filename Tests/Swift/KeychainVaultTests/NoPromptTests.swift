import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Synchronization
import Testing

@Suite("No questions if the environment forbids them")
struct NoPromptTests {
  @Test(arguments: [("1", false), ("0", false), ("", true)])
  func theVariableDecides(_ value: String, isAsked: Bool) throws {
    let vault = try TestVault()
    try vault.handle(passphrase: TestVault.passphrase).put("a", "s", .whenUnlocked)
    let count = Mutex(0)
    let handle = vault.handle(environment: ["KEYCHAIN_NO_PROMPT": value]) {
      $0.interaction = .allowed { _ throws(KeychainError) in
        count.withLock { $0 += 1 }
        return nil
      }
    }
    let error = #expect(throws: KeychainError.self) { try handle.text("a") }
    #expect(error?.code == (isAsked ? .cancelled : .locked))
    #expect(count.withLock { $0 } == (isAsked ? 1 : 0))
    #expect(try handle.status().mayAsk == isAsked)
  }
}
