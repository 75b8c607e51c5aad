internal import Testing

@testable internal import KeychainSecrets

@Suite("Secret stream")
struct SecretStreamTests {
  // Computed with PyNaCl 1.6, key 0, 1, 2 … 31.
  static let header = bytes(hex: "9d30c9f140bbbc4d5fb0876d333c622c84a885e63977e411")
  static let stream: [(sealed: String, message: [UInt8], additionalData: String, tag: UInt8)] = [
    (
      """
      c803ab41cf122989a1dd4d4eedc991c19605ca959c5d6f9d571b71cfe7379ab1369219c9bd910c82f5d83285eba27b
      30fb425e70b9cb29bd046d2ff191ebdcbabfda0e1aeeb57159380bc69305ea2d624097dc492e83715b351fe1ae92af
      267fee7f5482d5340f71ef780042de13996fc9139cc64c
      """, counting(100), "before", 0
    ),
    ("94c9debe982ceeef77005b7ce338fa0dff", [], "", 0),
    (
      "4ce3ed81595378bec52557d2af1d752e6c3859bd38281cef6ccbb013850877ad2362d3879a",
      Array(repeating: UInt8(ascii: "x"), count: 20), "", 1
    ),
    (
      "e89451f8bfc458518fb66a9fbe9eab688bf8ef2526ca6e123163e98b", Array("after rekey".utf8),
      "more", 2
    ),
    ("5f7e8733e0d3c8806d82fe079cd78cedb81c5571", Array("end".utf8), "", 3),
  ]

  @Test func publishedVectors() throws {
    var opener = try SecretStream.Opener(
      key: SecretBytes(counting(32)), header: Self.header.span.bytes)
    for part in Self.stream {
      let sealed = bytes(hex: part.sealed)
      let opened = try opener.open(
        sealed.span.bytes, additionalData: Array(part.additionalData.utf8))
      #expect(opened.tag.rawValue == part.tag)
      #expect(opened.takeBytes().array == part.message)
    }
  }

  /// Seals messages, the last one as the end.
  private func sealed(_ messages: [[UInt8]]) throws -> (header: [UInt8], parts: [[UInt8]]) {
    var sealer = try SecretStream.Sealer(key: SecretBytes(counting(32)))
    var parts: [[UInt8]] = []
    for (index, message) in messages.enumerated() {
      let isLast = index == messages.count - 1
      parts.append(
        sealer.seal(
          try SecretBytes(message), tag: isLast ? .final : .message,
          additionalData: index == 0 ? Array("first".utf8) : []))
    }
    return (sealer.header, parts)
  }

  private func opener(_ header: [UInt8]) throws -> SecretStream.Opener {
    try SecretStream.Opener(key: SecretBytes(counting(32)), header: header.span.bytes)
  }

  @Test func sealedTextOpens() throws {
    let messages = [counting(1000), [], counting(65)]
    let (header, parts) = try sealed(messages)
    var opener = try opener(header)
    for (index, part) in parts.enumerated() {
      #expect(part.count == messages[index].count + SecretStream.overhead)
      let opened = try opener.open(
        part.span.bytes, additionalData: index == 0 ? Array("first".utf8) : [])
      #expect(opened.tag == (index == 2 ? .final : .message))
      #expect(opened.takeBytes().array == messages[index])
    }
  }

  @Test func onlyFilledPartOfBufferIsSealed() throws {
    var buffer = try SecretBuffer()
    try buffer.append(counting(70).span.bytes)
    buffer.removeLast(10)
    var sealer = try SecretStream.Sealer(key: SecretBytes(counting(32)))
    let sealed = sealer.seal(buffer, tag: .final)
    var opener = try opener(sealer.header)
    #expect(try opener.open(sealed.span.bytes).takeBytes().array == counting(60))
  }

  @Test func changeOfAnyBitIsNoticed() throws {
    let (header, parts) = try sealed([counting(20)])
    let first = parts[0]
    for bit in 0..<(8 * parts[0].count) {
      var changed = parts[0]
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      var opener = try opener(header)
      expectFailure(changed, "first", &opener)
      // The failure does not advance the stream.
      _ = try opener.open(first.span.bytes, additionalData: Array("first".utf8))
    }
    for count in 0..<parts[0].count {
      var opener = try opener(header)
      expectFailure(Array(parts[0].prefix(count)), "first", &opener)
    }
    for text in ["", "firs", "first."] {
      var opener = try opener(header)
      expectFailure(parts[0], text, &opener)
    }
  }

  @Test func orderIsKept() throws {
    let (header, parts) = try sealed([[1], [2], [3], [4]])
    let first = parts[0]
    for other in 1..<4 {
      var opener = try opener(header)
      expectFailure(parts[other], "first", &opener)
      _ = try opener.open(first.span.bytes, additionalData: Array("first".utf8))
      expectFailure(parts[0], "first", &opener)
      if other > 1 { expectFailure(parts[other], "", &opener) }
    }
  }

  @Test func keyAndHeaderBelongToTheStream() throws {
    let (header, parts) = try sealed([[1]])
    for bit in 0..<(8 * header.count) {
      var changed = header
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      var opener = try opener(changed)
      expectFailure(parts[0], "first", &opener)
    }
    var opener = try SecretStream.Opener(
      key: SecretBytes.random(count: 32), header: header.span.bytes)
    expectFailure(parts[0], "first", &opener)
  }

  @Test("A key and a header have one length", arguments: [0, 23, 31, 33, 64])
  func lengthsAreChecked(count: Int) throws {
    let wrong = counting(count)
    #expect(throws: KeychainError.wrongLength) {
      _ = try SecretStream.Sealer(key: SecretBytes(wrong))
    }
    #expect(throws: KeychainError.wrongLength) {
      _ = try SecretStream.Opener(key: SecretBytes(wrong), header: Self.header.span.bytes)
    }
    #expect(throws: KeychainError.wrongLength) {
      _ = try SecretStream.Opener(key: SecretBytes(counting(32)), header: wrong.span.bytes)
    }
  }

  private func expectFailure(
    _ sealed: [UInt8], _ additionalData: String, _ opener: inout SecretStream.Opener
  ) {
    do {
      _ = try opener.open(sealed.span.bytes, additionalData: Array(additionalData.utf8))
      Issue.record("a message of \(sealed.count) bytes opened")
    } catch {
      #expect(error.code == .damaged)
    }
  }
}
