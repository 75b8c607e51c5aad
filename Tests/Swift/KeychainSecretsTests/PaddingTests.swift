internal import Testing

@testable internal import KeychainSecrets

@Suite("Padding")
struct PaddingTests {
  // Computed from the paper's formula with Python's `math.log2`.
  @Test(
    "Lengths on the Padmé grid",
    arguments: [
      (0, 256), (252, 256), (253, 272), (508, 512), (509, 544), (996, 1024), (9996, 10240),
      (1_048_572, 1_048_576), (1_048_573, 1_081_344), (16 << 20, 17_301_504),
    ])
  func lengths(count: Int, padded: Int) {
    #expect(Padding.paddedCount(for: count) == padded)
  }

  @Test func lengthsGrowAndStayClose() {
    var previous = 0
    for count in 0..<100_000 {
      let padded = Padding.paddedCount(for: count)
      let needed = count + Padding.headerCount
      guard padded >= previous, padded >= needed,
        padded == 256 || Double(padded) <= 1.12 * Double(needed),
        Padding.paddedCount(for: padded - Padding.headerCount) == padded
      else {
        Issue.record("\(count) bytes take \(padded)")
        return
      }
      previous = padded
    }
  }

  @Test("Data comes back", arguments: [0, 1, 251, 252, 253, 1000, 70_000])
  func dataComesBack(count: Int) throws {
    let padded = try Padding.pad(SecretBytes(counting(count)))
    let length = [UInt8(count & 255), UInt8(count >> 8 & 255), UInt8(count >> 16), 0]
    let text = padded.array
    #expect(text.starts(with: length + counting(count)))
    #expect(text.dropFirst(4 + count).allSatisfy { $0 == 0 })
    #expect(try Padding.unpad(padded).array == counting(count))
  }

  @Test("There is one padded form of each text", arguments: [0, 1, 200, 252, 253, 267])
  func onlyOneFormIsAccepted(count: Int) throws {
    let padded = try Padding.pad(SecretBytes(counting(count))).array
    var others = [Array(padded.dropLast()), padded + [0], padded + Array(repeating: 0, count: 16)]
    for index in (4 + count)..<max(padded.count, 4 + count) {
      var other = padded
      other[index] = 1
      others.append(other)
    }
    for (index, byte) in [(0, padded[0] &+ 1), (1, 0xff), (3, 0x80)] as [(Int, UInt8)] {
      var other = padded
      other[index] = byte
      // A length followed only by zeros is the padded form of another text.
      if index > 0 { others.append(other) }
    }
    for other in others {
      #expect(throws: KeychainError.notAuthentic) {
        _ = try Padding.unpad(SecretBytes(other))
      }
    }
  }

  @Test("What is too short is refused", arguments: [0, 3, 4, 255])
  func tooShortIsRefused(count: Int) {
    #expect(throws: KeychainError.notAuthentic) {
      _ = try Padding.unpad(SecretBytes(Array(repeating: 0, count: count)))
    }
  }
}
