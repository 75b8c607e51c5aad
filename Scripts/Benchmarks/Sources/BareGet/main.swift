import ArgumentParser
import CSodiumForBare
import Foundation
import Glibc

// The minimum work of a command that reads one secret with these libraries: the same command line,
// one read, two opened boxes. It checks nothing and derives no key.

@main
struct BareGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bare", subcommands: [BareKeychain.self])
}

struct BareKeychain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keychain", subcommands: [Get.self])
}

/// As many options as the real command, of the same types.
struct Get: ParsableCommand {
  enum Newline: String, ExpressibleByArgument, CaseIterable {
    case always, never, auto
  }

  @Argument var account: String?
  @OptionGroup var item: Item
  @Option(parsing: .unconditionalSingleValue, transform: { $0 }) var attribute: [String] = []
  @Flag var json = false
  @Option var newline: Newline?
  @Flag var allowExpired = false
  @Option var output: String?
  @OptionGroup var common: Common

  func run() throws {
    let file = try Data(contentsOf: URL(filePath: common.vault ?? ""))
    let count = file.count / 2
    guard count > 40, sodium_init() >= 0 else { throw ExitCode.failure }
    _ = try Self.open([UInt8](file.prefix(count)))
    var secret = try Self.open([UInt8](file.suffix(count)))
    guard write(STDOUT_FILENO, &secret, secret.count) == secret.count else {
      throw ExitCode.failure
    }
  }

  /// Opens a box that was sealed under a key of zeros.
  private static func open(_ box: [UInt8]) throws -> [UInt8] {
    let key = [UInt8](repeating: 0, count: 32)
    var message = [UInt8](repeating: 0, count: box.count - 40)
    let status = box.withUnsafeBufferPointer { box in
      guard let start = box.baseAddress else { return CInt(-1) }
      return crypto_secretbox_open_easy(&message, start + 24, UInt64(box.count - 24), start, key)
    }
    guard status == 0 else { throw ExitCode.failure }
    return message
  }
}

struct Item: ParsableArguments {
  @Option(parsing: .unconditional) var service: String?
  @Option(parsing: .unconditional) var accessGroup: String?
  @Option(parsing: .unconditional) var server: String?
  @Option(name: .customLong("protocol"), parsing: .unconditional) var protocolName: String?
  @Option var port: UInt16?
  @Option(parsing: .unconditional) var path: String?
  @Option(parsing: .unconditional) var securityDomain: String?
  @Option(parsing: .unconditional) var authenticationType: String?
}

struct Common: ParsableArguments {
  @Option var vault: String?
  @Option var store: String?
  @Flag var noPrompt = false
  @Option(transform: { Duration.seconds(Int($0) ?? 0) }) var deadline: Duration?
  @Option var passphraseFd: Int32?
  @Option var passphraseFile: String?
  @Option var keyFile: String?
}
