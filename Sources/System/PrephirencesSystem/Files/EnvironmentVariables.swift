internal import Glibc

/// Environment variables of the process, or values set by a test.
package struct EnvironmentVariables: Sendable {
  private enum Source {
    case process
    case values([String: String])
  }

  private let source: Source

  package static let process = Self(source: .process)

  private init(source: Source) { self.source = source }

  package init(_ values: [String: String]) { source = .values(values) }

  /// The values that replace the process's environment.
  package var values: [String: String]? {
    if case .values(let values) = source { values } else { nil }
  }

  /// Returns the value of a variable; `nil` if it is not set or empty.
  package func value(_ name: String) throws(FileError) -> String? {
    switch source {
    case .process:
      guard let bytes = unsafe getenv(name), unsafe bytes.pointee != 0 else { return nil }
      guard let value = unsafe String(validatingCString: bytes) else {
        throw FileError(.notText, name)
      }
      return value
    case .values(let values): return values[name].flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  /// Returns the value of a variable; `nil` if it is missing, empty or not text.
  package func text(_ name: String) -> String? { try? value(name) }

  /// Whether a variable is set and not empty, with whatever bytes.
  package func isSet(_ name: String) -> Bool { withBytes(of: name) { _ in true } ?? false }

  /// Returns the value of a variable if it is an absolute path; the XDG specification ignores
  /// others.
  package func absolutePath(_ name: String) throws(FileError) -> String? {
    try value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Calls `body` with the bytes of a variable in place, so that a secret is not copied.
  ///
  /// It returns `nil` if the variable is missing or empty.
  package func withBytes<Result: ~Copyable, Failure: Error>(
    of name: String, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    switch source {
    case .process:
      guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
      let bytes = unsafe UnsafeRawBufferPointer(start: value, count: strlen(value))
      return try body(unsafe RawSpan(_unsafeBytes: bytes))
    case .values(let values):
      guard let value = values[name], !value.isEmpty else { return nil }
      return try body(unsafe value.utf8.span.bytes)
    }
  }
}
