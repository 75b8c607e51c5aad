import BareStore
import Foundation
import Glibc
import Keychain

/// A second process with a vault.
///
/// It works when a line of standard input asks for it, and prints how long one call took: the
/// processor's time and the time that passed, in nanoseconds.
///
/// Two of them, of two versions of the library, can work in turns, and several on one vault. The
/// only argument is the path of the vault, which the device key opens; `fill` creates it.
///
/// | line | does |
/// | --- | --- |
/// | `fill COUNT SIZE` | stores this many items, with secrets of this many bytes |
/// | `get COUNT SIZE AMONG` | reads items far from each other, among the first ones that `fill` stored |
/// | `update COUNT SIZE AMONG` | replaces such items |
/// | `open COUNT SIZE AMONG` | opens the vault with a new handle, and reads such an item |
/// | `search COUNT SIZE AMONG` | searches for the account of such an item |
/// | `add COUNT SIZE` | adds items that no other process adds |
/// | `stamp COUNT SIZE` | stores the time, in nanoseconds since the machine started, under the account `stamp` |
/// | `batch COUNT SIZE AMONG` | replaces such items in one transaction |
/// | `bare-update COUNT SIZE` | appends what an update appends, by bare calls; then it is no vault |
@main
struct VaultPeer {
  struct UsageError: Error {}
  struct Failure: Error {}

  let path: String
  let vault: Vault

  /// The file without the vault's protections, once a line has asked for it.
  private var bare: BareStore?

  /// The number of calls so far.
  var calls = 0

  static func main() throws {
    guard CommandLine.arguments.count == 2 else { throw UsageError() }
    var peer = VaultPeer(path: CommandLine.arguments[1])
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      let numbers = words.dropFirst().compactMap { Int($0) }
      guard (2...3).contains(numbers.count), words.count == numbers.count + 1, numbers[0] > 0 else {
        throw UsageError()
      }
      var before = (time(CLOCK_PROCESS_CPUTIME_ID), time(CLOCK_MONOTONIC))
      if words[0].hasPrefix("bare-"), peer.bare == nil {
        peer.bare = try BareStore(path: peer.path)
        before = (time(CLOCK_PROCESS_CPUTIME_ID), time(CLOCK_MONOTONIC))
      }
      if words[0] == "batch" {
        try peer.batch(numbers[0], numbers[1], among: numbers[2])
      } else {
        for call in 0..<numbers[0] {
          try peer.call(
            words[0], call, size: numbers[1], among: numbers.count == 3 ? numbers[2] : nil)
        }
      }
      let after = (time(CLOCK_PROCESS_CPUTIME_ID), time(CLOCK_MONOTONIC))
      let times = "\((after.0 - before.0) / numbers[0]) \((after.1 - before.1) / numbers[0])\n"
      FileHandle.standardOutput.write(Data(times.utf8))
    }
  }

  init(path: String) {
    self.path = path
    vault = Self.handle(path)
  }

  private mutating func call(_ name: String, _ call: Int, size: Int, among: Int?) throws {
    calls += 1
    switch (name, among.map { calls * 7919 % $0 }) {
    case ("fill", nil): try set("account-\(call)", size)
    case ("add", nil): try set("added-\(UUID())", size)
    case ("stamp", nil):
      let secret = try SecretBytes(copying: "\(Self.time(CLOCK_MONOTONIC))")
      try vault.set(Credential(Self.identity("stamp", size)), secret: secret)
    case ("bare-update", nil): try bare?.set()
    case ("get", let number?): try get(vault, number, size)
    case ("update", let number?): try set("account-\(number)", size)
    case ("open", let number?): try get(Self.handle(path), number, size)
    case ("search", let number?):
      let query = CredentialQuery(service: Self.service(size), account: "account-\(number)")
      guard try vault.search(query).credentials.count == 1 else { throw Failure() }
    default: throw UsageError()
    }
  }

  private func get(_ vault: Vault, _ number: Int, _ size: Int) throws {
    let identity = Self.identity("account-\(number)", size)
    guard let stored = try vault.secret(for: identity), stored.secret.count == size else {
      throw Failure()
    }
  }

  private mutating func batch(_ count: Int, _ size: Int, among: Int) throws {
    let first = calls
    calls += count
    try vault.withTransaction(unlocking: .unlockedNow) { transaction in
      for call in first..<(first + count) {
        let identity = Self.identity("account-\(call * 7919 % among)", size)
        let secret = try SecretBytes(copying: String(repeating: "s", count: size))
        try transaction.set(Credential(identity), secret: secret)
      }
    }
  }

  private func set(_ account: String, _ size: Int) throws {
    let secret = try SecretBytes(copying: String(repeating: "s", count: size))
    try vault.set(Credential(Self.identity(account, size)), secret: secret)
  }

  private static func identity(_ account: String, _ size: Int) -> CredentialIdentity {
    .genericPassword(service: service(size), account: account)
  }

  private static func service(_ size: Int) -> String { "peer-\(size)" }

  /// Returns a handle that waits as long as several writers may take.
  private static func handle(_ path: String) -> Vault {
    Vault(configuration: .init(path: path, deadline: .seconds(120)))
  }

  private static func time(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
