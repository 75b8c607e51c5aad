internal import Testing

@testable internal import KeychainSecrets

@Suite("Sealed box")
struct SealedBoxTests {
  // RFC 7748, section 6.1: the keys of Alice and Bob.
  @Test(
    "A private key has one public key",
    arguments: [
      (
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
      ),
      (
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
      ),
    ])
  func publicKey(privateKey: String, publicKey: String) throws {
    let key = try SealedBox.publicKey(of: SecretBytes(bytes(hex: privateKey)))
    #expect(key == bytes(hex: publicKey))
  }

  // Sealed with PyNaCl's `SealedBox` to the public key of the private key 00 01 02 … 1f.
  @Test func boxFromElsewhereOpens() throws {
    let box = bytes(
      hex: """
        f2764bc4c22ccb8897485e7e4a815572da13d92184cf7aafaabce046b1e6fb2e48826f6042486c1aae97dc53ba84
        f169d85a0bda5da61e1f94318264a3a718f6
        """)
    let message = try SealedBox.open(box.span.bytes, with: SecretBytes(counting(32)))
    #expect(message.array == Array("sealed elsewhere".utf8))
  }

  @Test("What is sealed opens", arguments: [0, 1, 32, 64, 65, 100_000])
  func sealedTextOpens(count: Int) throws {
    let privateKey = try SecretBytes.random(count: 32)
    let publicKey = try SealedBox.publicKey(of: privateKey)
    let box = try SealedBox.seal(SecretBytes(counting(count)), to: publicKey)
    #expect(box.count == count + SealedBox.overhead)
    #expect(try SealedBox.open(box.span.bytes, with: privateKey).array == counting(count))
    let again = try SealedBox.seal(SecretBytes(counting(count)), to: publicKey)
    #expect(again.prefix(32) != box.prefix(32))
  }

  @Test func changeOfAnyBitIsNoticed() throws {
    let privateKey = try SecretBytes.random(count: 32)
    let publicKey = try SealedBox.publicKey(of: privateKey)
    let box = try SealedBox.seal(SecretBytes(counting(4)), to: publicKey)
    for bit in 0..<(8 * box.count) {
      var changed = box
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      expectFailure(.damaged, opening: changed, with: privateKey)
    }
    for count in 0..<box.count {
      expectFailure(.damaged, opening: Array(box.prefix(count)), with: privateKey)
    }
    expectFailure(.damaged, opening: box, with: try SecretBytes.random(count: 32))
  }

  @Test("A key has 32 bytes", arguments: [0, 31, 33])
  func keyHasOneLength(count: Int) throws {
    let key = counting(count)
    #expect(throws: KeychainError.wrongLength) {
      _ = try SealedBox.seal(SecretBytes([1]), to: key)
    }
    #expect(throws: KeychainError.wrongLength) {
      _ = try SealedBox.publicKey(of: SecretBytes(key))
    }
    expectFailure(.invalidArgument, opening: counting(60), with: try SecretBytes(key))
  }

  // The points of low order, with which everyone could open the box; then numbers that are not less
  // than the prime.
  @Test(
    "What is nobody's public key is refused",
    arguments: [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "0900000000000000000000000000000000000000000000000000000000000080",
      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ])
  func unusableKeyIsRefused(key: String) {
    #expect(!SealedBox.isPublicKey(bytes(hex: key)))
    #expect(throws: KeychainError.wrongLength) {
      _ = try SealedBox.seal(SecretBytes([1]), to: bytes(hex: key))
    }
  }

  @Test(
    "Other numbers below the prime are public keys",
    arguments: [
      "0900000000000000000000000000000000000000000000000000000000000000",
      "0200000000000000000000000000000000000000000000000000000000000000",
      "ebffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
  func otherNumbersArePublicKeys(key: String) {
    #expect(SealedBox.isPublicKey(bytes(hex: key)))
  }

  private func expectFailure(
    _ code: KeychainError.Code, opening box: [UInt8], with key: borrowing SecretBytes
  ) {
    do {
      _ = try SealedBox.open(box.span.bytes, with: key)
      Issue.record("a box of \(box.count) bytes opened")
    } catch {
      #expect(error.code == code)
    }
  }
}
