internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets

/// The environment variables that a vault looks at.
///
/// Tests give their own, so that they need not change the process's.
package struct VaultEnvironment: Sendable {
  private enum Source {
    case process
    case values([String: String])
  }

  private let source: Source

  /// The process's environment, read anew each time.
  package static let process = Self(source: .process)

  private init(source: Source) { self.source = source }

  package init(_ values: [String: String]) {
    source = .values(values)
  }

  /// The value of a variable; `nil` if it is not set or empty.
  func value(_ name: String) -> String? {
    let value: String? =
      switch source {
      case .process: unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
      case .values(let values): values[name]
      }
    return value.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The value of a variable that is an absolute path, as the XDG base directory specification
  /// demands: others are ignored.
  func absolutePath(_ name: String) -> String? {
    value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// The value of a variable that holds a secret, copied once, into guarded memory.
  func secret(_ name: String) throws(KeychainError) -> SecretBytes? {
    do throws(SecretsError) {
      switch source {
      case .process:
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: value, count: strlen(value))
        return try SecretBytes(copying: unsafe RawSpan(_unsafeBytes: bytes))
      case .values(let values):
        guard let value = values[name], !value.isEmpty else { return nil }
        return try SecretBytes(copying: value)
      }
    } catch {
      throw KeychainError(error)
    }
  }
}
