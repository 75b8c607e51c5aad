internal import Glibc
internal import KeychainCredentials

/// A variable that this process inherited, with its bytes, which need not be text.
struct InheritedVariable: Sendable {
  /// The whole entry, usually `NAME=value`.
  let entry: [UInt8]

  /// The name; the whole entry if it has no equals sign.
  var name: ArraySlice<UInt8> { entry[..<(sign ?? entry.endIndex)] }

  /// The value; `nil` if the entry has no equals sign.
  var value: ArraySlice<UInt8>? { sign.map { entry[($0 + 1)...] } }

  /// The name, the value and the reference that it is; `nil` if the value is none.
  func reference() throws(KeychainError) -> (name: String, CredentialReference)? {
    guard let value, let text = String(validating: value, as: UTF8.self),
      CredentialReference.isReference(text), let name = String(validating: name, as: UTF8.self)
    else { return nil }
    do throws(KeychainError) {
      return (name, try CredentialReference(text))
    } catch {
      throw error.located("the inherited variable '\(name)'")
    }
  }

  private var sign: Int? { entry.firstIndex(of: UInt8(ascii: "=")) }

  /// The variables of this process, in their order.
  static func ofProcess() -> [Self] {
    var found: [Self] = []
    var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
    while let entry = next?.pointee {
      found.append(
        Self(
          entry: UnsafeBufferPointer(start: entry, count: strlen(entry)).map {
            UInt8(bitPattern: $0)
          }))
      next = next?.advanced(by: 1)
    }
    return found
  }
}
