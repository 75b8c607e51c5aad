internal import FoundationEssentials
internal import Glibc
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import Synchronization

/// Standard output, with failures as those of the keychain.
enum CommandOutput {
  private static let limit = Mutex<Deadline?>(nil)

  /// Sets how long to wait for a program that reads standard output; `nil` for as long as it takes.
  static func wait(until deadline: Deadline?) { limit.withLock { $0 = deadline } }

  /// Writes text; fails without standard output.
  static func write(_ text: String) throws(KeychainError) {
    if let deadline = try openOutput() {
      return try write(Array(text.utf8).span.bytes, by: deadline)
    }
    do throws(CommandLineError) {
      try StandardOutput.write(text)
    } catch {
      throw KeychainError(error)
    }
  }

  /// Writes a secret without making a string of it.
  static func write(_ secret: borrowing SecretBytes) throws(KeychainError) {
    if let deadline = try openOutput() {
      return try secret.withBytes { bytes throws(KeychainError) in
        try write(bytes, by: deadline)
      }
    }
    do throws(SecretsError) {
      try secret.write(toFileDescriptor: StandardOutput.descriptor)
    } catch {
      throw .outputFailed(errno: error.systemError)
    }
  }

  /// Fails without standard output; returns the deadline if there is one.
  private static func openOutput() throws(KeychainError) -> Deadline? {
    do throws(CommandLineError) {
      try StandardOutput.checkOpen()
    } catch {
      throw KeychainError(error)
    }
    return limit.withLock { $0 }
  }

  /// Writes bytes in pieces that don't block once a pipe can take some.
  private static func write(_ bytes: RawSpan, by deadline: Deadline) throws(KeychainError) {
    var offset = 0
    while offset < bytes.byteCount {
      guard deadline.awaitOutput(StandardOutput.descriptor) else { throw .nobodyReadsOutput }
      let rest = bytes.extracting(offset..<min(offset + Int(PIPE_BUF), bytes.byteCount))
      let count = rest.withUnsafeBytes {
        Glibc.write(StandardOutput.descriptor, $0.baseAddress, $0.count)
      }
      if count > 0 { offset += count }
      guard count >= 0 || errno == EINTR || errno == EAGAIN else {
        throw .outputFailed(errno: errno)
      }
    }
  }

  /// Returns a value as JSON, with a newline at the end.
  ///
  /// Characters that control a terminal or are invisible are always escaped, because a file or a pipe may
  /// be shown on a terminal later.
  static func json(_ value: some JSONConvertible) -> String {
    value.json.linesOfFoundation.visibleInJSON + "\n"
  }
}

/// What is printed as JSON.
protocol JSONConvertible {
  var json: JSONValue { get }
}

/// The members of an object of JSON; those without a value are left out.
typealias JSONMembers = [(name: String, value: (any JSONConvertible)?)]

extension JSONValue: JSONConvertible {
  var json: JSONValue { self }

  static func members(_ members: JSONMembers) -> JSONValue {
    .object(
      members.compactMap { name, value in
        value.map { JSONValue.Member(name: name, value: $0.json) }
      })
  }
}

extension JSONConvertible where Self: BinaryInteger {
  var json: JSONValue { .number(self) }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt16: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}

extension Bool: JSONConvertible {
  var json: JSONValue { .bool(self) }
}

extension String: JSONConvertible {
  var json: JSONValue { .string(self) }
}

extension Date: JSONConvertible {
  var json: JSONValue { .string(DateText.text(self)) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
  var json: JSONValue { .array(map(\.json)) }
}

extension [String: Int]: JSONConvertible {
  var json: JSONValue { .members(map { ($0.key, $0.value) }) }
}
