internal import Testing

@testable internal import KeychainSecrets

@Suite("Secret box")
struct SecretBoxTests {
  // The vector of the NaCl paper and of libsodium's secretbox and secretbox_easy tests.
  static let key = bytes(
    hex: "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389")
  static let nonce = bytes(hex: "69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37")
  static let message = bytes(
    hex: """
      be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61
      296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af
      1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705
      """)
  static let box = bytes(
    hex: """
      f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a118
      6ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e5
      26ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654c
      b45a74e355a5
      """)

  // The second vector has the same key and nonce and an empty message, computed with PyNaCl.
  @Test(
    "Published vectors",
    arguments: [(message, box), ([], bytes(hex: "2539121d8e234e652d651fa4c8cff880"))])
  func publishedVectors(message: [UInt8], box: [UInt8]) throws {
    let key = try SecretBytes(Self.key)
    let sealed = try SecretBox.seal(SecretBytes(message), with: key, nonce: Self.nonce)
    #expect(sealed == Self.nonce + box)
    #expect(sealed.count == message.count + SecretBox.overhead)
    #expect(try SecretBox.open(sealed.span.bytes, with: key).array == message)
  }

  @Test func nonceIsNewForEveryBox() throws {
    let key = try SecretBytes.random(count: 32)
    let message = try SecretBytes(counting(100))
    let one = try SecretBox.seal(message, with: key)
    let other = try SecretBox.seal(message, with: key)
    #expect(one.prefix(24) != other.prefix(24))
    #expect(one.dropFirst(24) != other.dropFirst(24))
    #expect(try SecretBox.open(one.span.bytes, with: key).array == counting(100))
  }

  @Test func changeOfAnyBitIsNoticed() throws {
    let key = try SecretBytes.random(count: 32)
    let box = try SecretBox.seal(SecretBytes(counting(20)), with: key)
    for bit in 0..<(8 * box.count) {
      var changed = box
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      expectFailure(.damaged, opening: changed, with: key)
    }
    for count in 0..<box.count {
      expectFailure(.damaged, opening: Array(box.prefix(count)), with: key)
    }
    expectFailure(.damaged, opening: box + [0], with: key)
  }

  @Test("A key has 32 bytes", arguments: [0, 31, 33, 64])
  func keyHasOneLength(count: Int) throws {
    let key = try SecretBytes(counting(count))
    #expect(throws: KeychainError.wrongLength) {
      _ = try SecretBox.seal(SecretBytes([1]), with: SecretBytes(counting(count)))
    }
    expectFailure(.invalidArgument, opening: Self.nonce + Self.box, with: key)
  }

  private func expectFailure(
    _ code: KeychainError.Code, opening box: [UInt8], with key: borrowing SecretBytes
  ) {
    do {
      _ = try SecretBox.open(box.span.bytes, with: key)
      Issue.record("a box of \(box.count) bytes opened")
    } catch {
      #expect(error.code == code)
    }
  }
}
