import Foundation
import KeychainCredentials
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainSecretService

/// A desktop of its own, with a provider of the Secret Service, that ends with this object.
final class Desktop: Sendable {
  enum Provider: String {
    case gnomeKeyring = "gnome-keyring"
    case gnomeKeyringWithoutPassword = "gnome-keyring-without-password"
    case keePassXC = "keepassxc"
    case none
  }

  let environment: [String: String]
  private let script: Process
  private let input = Pipe()

  init(_ provider: Provider) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    script = Process()
    script.executableURL = root.appending(path: "Scripts/lib/desktop")
    // The script ends everything once the command does, which reads until this process lets go.
    script.arguments = [
      provider.rawValue, "sh", "-c", "env -0; printf 'READY=\\0'; cat >/dev/null",
    ]
    script.standardInput = input
    let output = Pipe()
    script.standardOutput = output
    try script.run()
    var received = Data()
    while !received.suffix(7).elementsEqual(Data("READY=\0".utf8)) {
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "the desktop did not start")
      received += more
    }
    var environment: [String: String] = [:]
    for pair in received.split(separator: 0) {
      let parts = String(decoding: pair, as: UTF8.self).split(separator: "=", maxSplits: 1)
      environment[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    self.environment = environment
  }

  deinit {
    try? input.fileHandleForWriting.close()
    script.waitUntilExit()
  }

  /// A handle, as a program of this desktop would have it.
  func store(
    _ change: (inout SecretServiceStore.Configuration) -> Void = { _ in }
  ) -> SecretServiceStore {
    var configuration = SecretServiceStore.Configuration()
    configuration.environment = environment
    change(&configuration)
    return SecretServiceStore(configuration: configuration)
  }

  var providerProcess: Int32 { environment["DESKTOP_PROVIDER_PID"].flatMap { Int32($0) } ?? 0 }
  var busProcess: Int32 { environment["DESKTOP_BUS_PID"].flatMap { Int32($0) } ?? 0 }

  /// Runs a program of this desktop, and returns what it printed.
  @discardableResult
  func run(_ program: String, _ arguments: String..., input text: String = "") throws -> (
    status: Int32, output: Data
  ) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = environment
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, data)
  }
}

extension CredentialStore {
  func removeEverything() throws {
    for credential in try search(CredentialQuery()).credentials { try remove(credential.identity) }
  }

  @discardableResult
  func put(_ account: String, _ text: String, group: String = "") throws -> Credential {
    try store(
      Credential(.genericPassword(service: "test", account: account, accessGroup: group)),
      secret: SecretBytes(copying: text))
  }

  func text(_ account: String, service: String = "test", group: String = "") throws -> String? {
    let identity = CredentialIdentity.genericPassword(
      service: service, account: account, accessGroup: group)
    guard let stored = try secret(for: identity) else { return nil }
    return stored.secret.withBytes { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
    }
  }
}

/// Expects a call to fail with a code.
func expect(
  _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: sourceLocation)
}
