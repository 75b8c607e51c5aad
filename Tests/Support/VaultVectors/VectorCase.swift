package import Foundation
package import KeychainSecrets
internal import Testing

/// A test vector of the vault format; see Tests/Data/Vectors/README.md.
package struct VectorCase: Decodable, Sendable, CustomTestStringConvertible {
  package struct Inputs: Decodable, Sendable {
    package let hex: [String: String]
    package let text: [String: String]
    package let number: [String: Int64]
  }

  package struct MissingInput: Error {
    let name: String
  }

  package let name: String
  package let operation: String
  package let inputs: Inputs
  package let expect: String?

  package var testDescription: String { name }

  /// Loads the cases of a file; the result is empty if it cannot be read, which a test must check.
  package static func load(_ name: String) -> [VectorCase] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Data/Vectors/\(name).json")
    let data = (try? Data(contentsOf: file)) ?? Data()
    return (try? JSONDecoder().decode([VectorCase].self, from: data)) ?? []
  }

  package func bytes(_ name: String) throws -> [UInt8] {
    let hexadecimal = try #require(inputs.hex[name], "no input \(name)")
    return Array(try Data(hexadecimal: hexadecimal))
  }

  package func data(_ name: String) throws -> Data { Data(try bytes(name)) }

  package func secret(_ name: String) throws -> SecretBytes {
    let bytes = try bytes(name)
    return try SecretBytes(count: bytes.count) { memory in
      for (index, byte) in bytes.enumerated() {
        memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
  }

  package func text(_ name: String) throws -> String {
    try #require(inputs.text[name], "no input \(name)")
  }

  package func number<Value: FixedWidthInteger>(_ name: String) throws -> Value {
    guard let number = inputs.number[name], let value = Value(exactly: number) else {
      throw MissingInput(name: name)
    }
    return value
  }

  /// Returns the inputs of one name that are numbered from 0.
  package func numbered(_ name: String) throws -> [Data] {
    var values: [Data] = []
    while inputs.hex["\(name)\(values.count)"] != nil {
      values.append(try data("\(name)\(values.count)"))
    }
    return values
  }
}
