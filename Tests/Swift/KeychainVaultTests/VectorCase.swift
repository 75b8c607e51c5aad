import Foundation
import KeychainSecrets
import Testing

/// A test vector of the vault format; see Tests/Data/Vectors/README.md.
struct VectorCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Inputs: Decodable, Sendable {
    let hex: [String: String]
    let text: [String: String]
    let number: [String: Int64]
  }

  struct MissingInput: Error {
    let name: String
  }

  let name: String
  let operation: String
  let inputs: Inputs
  let expect: String?

  var testDescription: String { name }

  static let all = load("format1")

  /// The cases of a file; none if it cannot be read, which a test must notice.
  static func load(_ name: String) -> [VectorCase] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Data/Vectors/\(name).json")
    let data = (try? Data(contentsOf: file)) ?? Data()
    return (try? JSONDecoder().decode([VectorCase].self, from: data)) ?? []
  }

  func bytes(_ name: String) throws -> [UInt8] {
    let hexadecimal = try #require(inputs.hex[name], "no input \(name)")
    return Array(try Data(hexadecimal: hexadecimal))
  }

  func data(_ name: String) throws -> Data { Data(try bytes(name)) }

  func secret(_ name: String) throws -> SecretBytes {
    let bytes = try bytes(name)
    return try SecretBytes(count: bytes.count) { memory in
      for (index, byte) in bytes.enumerated() {
        memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
  }

  func text(_ name: String) throws -> String {
    try #require(inputs.text[name], "no input \(name)")
  }

  func number<Value: FixedWidthInteger>(_ name: String) throws -> Value {
    guard let number = inputs.number[name], let value = Value(exactly: number) else {
      throw MissingInput(name: name)
    }
    return value
  }

  /// Inputs of one name that are numbered from 0.
  func numbered(_ name: String) throws -> [Data] {
    var values: [Data] = []
    while inputs.hex["\(name)\(values.count)"] != nil {
      values.append(try data("\(name)\(values.count)"))
    }
    return values
  }
}

extension Collection<UInt8> {
  var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
