import Foundation
import Glibc
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

@Suite("Permissions of files that unlock")
struct SecretFileReaderTests {
  private func policy(
    _ chosen: SecretFileReaders?, _ values: [String: String] = [:]
  ) -> SecretFilePolicy {
    SecretFilePolicy(chosen: chosen, environment: EnvironmentVariables(values))
  }

  /// Returns why a file is refused; `nil` if it is read.
  private func code(_ path: String, _ policy: SecretFilePolicy) -> KeychainError.Code? {
    do throws(KeychainError) {
      _ = try SecretFile.named(path, name: path, policy: policy)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func theProgramDecidesBeforeTheEnvironment() throws {
    #expect(try policy(nil).readers() == .owner)
    #expect(try policy(nil, ["KEYCHAIN_ALLOW_READ": "group"]).readers() == .group)
    #expect(try policy(.owner, ["KEYCHAIN_ALLOW_READ": "others"]).readers() == .owner)
    let error = #expect(throws: KeychainError.self) {
      try policy(nil, ["KEYCHAIN_ALLOW_READ": "1"]).readers()
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test(arguments: [
    (0o400, SecretFileReaders.owner), (0o440, .group), (0o444, .others), (0o644, .others),
    (0o640, .group),
  ])
  func firstAllowedFileIsRead(_ mode: Int, _ least: SecretFileReaders) throws {
    let vault = try TestVault()
    let path = vault.folder.path + "/secret"
    try Data("passphrase".utf8).write(to: URL(filePath: path))
    #expect(chmod(path, mode_t(mode)) == 0)
    let order = SecretFileReaders.allCases
    for readers in order {
      let isEnough = order.firstIndex(of: readers) ?? 0 >= order.firstIndex(of: least) ?? 0
      #expect(code(path, policy(readers)) == (isEnough ? nil : .insecurePermissions))
    }
    #expect(chmod(path, 0o622) == 0)
    #expect(code(path, policy(.others)) == .insecurePermissions)
  }

  @Test func linksWithinFolderCountAsCredentials() throws {
    let vault = try TestVault()
    let folder = vault.folder.path + "/credentials"
    let outside = vault.folder.path + "/outside"
    for path in [folder, folder + "/..1", outside] { #expect(mkdir(path, 0o755) == 0) }
    for path in [folder + "/..1/k", outside + "/k"] {
      try Data("passphrase".utf8).write(to: URL(filePath: path))
      #expect(chmod(path, 0o440) == 0)
    }
    #expect(symlink("..1", folder + "/..data") == 0)
    #expect(symlink("..data/k", folder + "/inside") == 0)
    #expect(symlink("../outside/k", folder + "/outside") == 0)
    let policy = policy(nil, ["CREDENTIALS_DIRECTORY": folder])
    #expect(code(folder + "/inside", policy) == nil)
    #expect(code(folder + "/outside", policy) == .insecurePermissions)
  }
}
