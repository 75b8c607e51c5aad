internal import Glibc
internal import Testing

@testable internal import KeychainSecrets

/// An Argon2id (version 1.3, one lane) known answer of 32 bytes.
struct PasswordVector: CustomTestStringConvertible, Sendable {
  let passphrase: [UInt8]
  let salt: String
  let memory: UInt64
  let passes: UInt32
  let output: String

  var testDescription: String { "\(memory >> 10) KiB, \(passes) passes" }

  static let all = [
    // From libsodium's test "pwhash_argon2id": the only vector with 32 bytes and one lane within
    // the limits.
    Self(
      passphrase: [], salt: "6c0f356abb225f2b1ddd66d34739843b", memory: 4882 << 10, passes: 2,
      output: "366f1004cfbb447d435e8f6bbe9e5cc0a10e38e7c3da0e89bb19578a1a0d7291"),
    // Computed with the reference implementation, through argon2-cffi's `hash_secret_raw`.
    Self(
      passphrase: Array("correct horse battery staple".utf8),
      salt: "000102030405060708090a0b0c0d0e0f", memory: 8 << 10, passes: 1,
      output: "d17ea6341ca93da6079ea2f64dc4aa31dd1aaf9caa67fb42ac4afd0714706f26"),
    Self(
      passphrase: [0, 0xff, 0x0a, 0], salt: "101112131415161718191a1b1c1d1e1f", memory: 64 << 10,
      passes: 3, output: "d798ded55a905c52db79f22bab165f79b2541e8e6a5f9162ca1a06731ebad101"),
    Self(
      passphrase: Array("пароль".utf8), salt: "ffffffffffffffffffffffffffffffff", memory: 1 << 20,
      passes: 10, output: "3eefe36544400b647cff9aa6aa18f7242c689e76a09de52bdbd5492d4e06b13a"),
    Self(
      passphrase: Array("password".utf8), salt: "736f6d6573616c740000000000000000",
      memory: PasswordHash.Parameters.interactive.memory,
      passes: PasswordHash.Parameters.interactive.passes,
      output: "b327fc4f307da6f3081ad161bd10131d6d675f8de23fe14b69a4d79eaa7232b6"),
  ]
}

/// Returns the size of the process's address space, in bytes.
private func addressSpace() -> UInt? {
  guard let file = fopen("/proc/self/statm", "r") else { return nil }
  defer { fclose(file) }
  var text = [UInt8](repeating: 0, count: 256)
  let count = fread(&text, 1, text.count, file)
  let pages = String(decoding: text[..<count].prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
  return UInt(pages).map { $0 * UInt(sysconf(CInt(_SC_PAGESIZE))) }
}

@Suite("Password hash")
struct PasswordHashTests {
  @Test("Known answers", arguments: PasswordVector.all)
  func knownAnswers(vector: PasswordVector) throws {
    let key = try PasswordHash.key(
      passphrase: SecretBytes(vector.passphrase), salt: bytes(hex: vector.salt),
      parameters: .init(memory: vector.memory, passes: vector.passes))
    #expect(key.array == bytes(hex: vector.output))
  }

  // Nothing may be allocated first: a file must not choose how long its reader works.
  @Test(
    "A cost outside the limits is refused at once",
    .timeLimit(.minutes(10)),
    arguments: [
      (1 << 40, 1), (UInt64.max, 1), ((1 << 30) + 1024, 1), (7 << 10, 1), (0, 1), (8 << 10, 0),
      (8 << 10, 11), (8 << 10, UInt32.max), ((8 << 10) + 1, 1), ((64 << 10) + 512, 1),
    ] as [(UInt64, UInt32)])
  func costOutsideTheLimitsIsRefused(memory: UInt64, passes: UInt32) {
    let parameters = PasswordHash.Parameters(memory: memory, passes: passes)
    #expect(parameters.isAcceptable == false)
    #expect(throws: KeychainError.refusedParameters) {
      _ = try PasswordHash.key(
        passphrase: SecretBytes([1]), salt: counting(16), parameters: parameters)
    }
  }

  @Test(
    "A cost within the limits is acceptable",
    arguments: [
      .interactive, .moderate, .maximum, .init(memory: 8 << 10, passes: 1),
    ] as [PasswordHash.Parameters])
  func costWithinTheLimitsIsAcceptable(parameters: PasswordHash.Parameters) {
    #expect(parameters.isAcceptable)
  }

  @Test("A salt has 16 bytes", arguments: [0, 15, 17])
  func saltHasOneLength(count: Int) {
    #expect(throws: KeychainError.wrongLength) {
      _ = try PasswordHash.key(
        passphrase: SecretBytes([1]), salt: counting(count),
        parameters: .init(memory: 8 << 10, passes: 1))
    }
  }

  @Test func missingMemoryIsReported() async {
    await #expect(processExitsWith: .success) {
      // More than the process uses, which depends on its threads, by less than the hash needs.
      let most = try #require(addressSpace()) + (512 << 20)
      var limit = rlimit(rlim_cur: most, rlim_max: most)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      #expect(throws: KeychainError.outOfMemory) {
        _ = try PasswordHash.key(
          passphrase: SecretBytes([1]), salt: counting(16),
          parameters: .init(memory: 1 << 30, passes: 1))
      }
    }
  }
}
