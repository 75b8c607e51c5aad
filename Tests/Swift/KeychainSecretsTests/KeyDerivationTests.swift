internal import Testing

@testable internal import KeychainSecrets

/// A derivation, computed with Python's `hashlib.blake2b(message, key=, person=, digest_size=32)`.
struct DerivationVector: CustomTestStringConvertible, Sendable {
  let key: [UInt8]
  let label: String
  let message: [UInt8]
  let output: String

  var testDescription: String { "\(label), \(message.count) bytes" }

  static let all = [
    Self(
      key: counting(32), label: "pk1/tier", message: [0],
      output: "fe3a56906f141790cc29736281538ca1c3cdf5f3f1067b6e0f95aff71c9eca7c"),
    Self(
      key: counting(32), label: "pk1/tier", message: [1],
      output: "4660bc1ee708fffc8fd7a72bb42cd320b1cb470de66a0c07f00685a96d7c0c72"),
    Self(
      key: counting(32), label: "", message: [],
      output: "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d"),
    Self(
      key: counting(16), label: "0123456789abcdef", message: Array("abc".utf8),
      output: "010d97bb71ec60c7d3659215fed388785d109d367441fd6747dd6401a3b0add1"),
    Self(
      key: counting(64), label: "pk1/index.attr", message: counting(1000),
      output: "4b3478bd535a0288717422c5433c39a6f5632250e2046b9b94c80b47365e5dfe"),
  ]
}

@Suite("Key derivation")
struct KeyDerivationTests {
  @Test("Python derives the same", arguments: DerivationVector.all)
  func pythonDerivesTheSame(vector: DerivationVector) throws {
    let key = try SecretBytes(vector.key)
    let fields = vector.message
    let derived = try KeyDerivation.key(from: key, label: vector.label, fields: fields.span.bytes)
    let tag = try KeyDerivation.tag(from: key, label: vector.label, fields: fields.span.bytes)
    #expect(derived.array == bytes(hex: vector.output))
    #expect(tag == bytes(hex: vector.output))
  }

  @Test(
    "A key or label outside its limits is refused",
    arguments: [
      (0, "label"), (15, "label"), (65, "label"), (32, "0123456789abcdefg"), (32, "ééééééééé"),
    ])
  func limitsAreKept(keyCount: Int, label: String) throws {
    let key = try SecretBytes(counting(keyCount))
    let none: [UInt8] = []
    do {
      _ = try KeyDerivation.key(from: key, label: label, fields: none.span.bytes)
      Issue.record("a key was derived")
    } catch {
      #expect(error.code == .invalidArgument)
    }
    do {
      _ = try KeyDerivation.tag(from: key, label: label, fields: none.span.bytes)
      Issue.record("a tag was derived")
    } catch {
      #expect(error.code == .invalidArgument)
    }
  }
}

@Suite("BLAKE2b without a key")
struct Blake2bTests {
  // The digest of "abc" is from RFC 7693, appendix A; the others are from Python's `hashlib`.
  @Test(
    "Known digests",
    arguments: [
      (
        "abc",
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
          + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
      ),
      ("abc", "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
      ("", "cae66941d9efbd404e4d88758ea67670"),
    ])
  func knownDigests(message: String, digest: String) throws {
    let message = Array(message.utf8)
    let expected = bytes(hex: digest)
    #expect(try Blake2b.digest(message.span.bytes, count: expected.count) == expected)
  }

  @Test func keyIsTheDigestOfTheBytes() throws {
    let key = try Blake2b.key(hashing: SecretBytes(copying: "abc"))
    let expected = bytes(hex: "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    #expect(key.array == expected)
  }

  @Test("A digest has 16 to 64 bytes", arguments: [-1, 0, 15, 65])
  func limitsAreKept(count: Int) {
    let message = counting(3)
    #expect(throws: KeychainError.wrongLength) {
      _ = try Blake2b.digest(message.span.bytes, count: count)
    }
  }
}
