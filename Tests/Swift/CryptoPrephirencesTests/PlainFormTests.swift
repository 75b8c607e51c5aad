internal import Foundation
internal import Testing

@testable internal import CryptoPrephirences

@Suite("The form that is encrypted")
struct PlainFormTests {
  @Test func anyBytesAreReadWithoutHarm() throws {
    let value: [String: Any] = [
      "a": [1, "two", 3.5, Data([4])], "u": UUID(), "t": Theme(name: "x", scale: 1),
      "o": NSSet(array: ["a"]), "d": Decimal(1), "l": URL(fileURLWithPath: "/a"),
    ]
    let data = try PlainWriter.data(of: value)
    for index in data.indices {
      for byte in [0, 1, 0x7F, 0xFF, data[index] ^ 1] {
        var changed = data
        changed[index] = byte
        _ = try? PlainReader.value(of: changed)
      }
      #expect(throws: CryptoPrephirencesError.self) {
        try PlainReader.value(of: data.prefix(index))
      }
    }
  }

  @Test func depthIsBounded() throws {
    var value: Any = 1
    for _ in 0..<150 { value = [value] }
    #expect(throws: Never.self) { try PlainReader.value(of: PlainWriter.data(of: value)) }
    for _ in 0..<100 { value = [value] }
    #expect(throws: CryptoPrephirencesError.self) { try PlainWriter.data(of: value) }
    var bytes = PlainForm.value.magic
    for _ in 0..<100_000 {
      bytes.append(PlainTag.array.rawValue)
      bytes.append(littleEndian: UInt64(1))
    }
    #expect(throws: CryptoPrephirencesError.self) { try PlainReader.value(of: bytes) }
  }
}
