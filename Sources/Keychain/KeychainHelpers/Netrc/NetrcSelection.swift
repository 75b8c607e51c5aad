public import KeychainCredentials
internal import PrephirencesSystem

/// A server whose password goes into a netrc file: `[ACCOUNT@]HOST[:PORT]`.
///
/// A netrc file knows a host, and neither protocol nor port: whoever reads the file sends the entry's
/// password to every port of the host. The port of a selection only chooses between the passwords of
/// one host; without it, the password for the usual port of `https` is meant.
///
/// ```swift
/// let selection = try NetrcSelection("alice@packages.example.com")
/// let text = try NetrcFile.contents(for: [selection], in: store)
/// print(text.count)
/// ```
public struct NetrcSelection: Hashable, Sendable {
  /// The host name or address, with ASCII capitals as small letters, and without brackets.
  public let host: String

  /// The account; `nil` for the only one of the host.
  public let account: String?

  /// The port of the password that is meant; `nil` for the usual one of `https`.
  public let port: UInt16?

  /// The host in the case in which it was written.
  let writtenHost: String

  /// Reads a selection.
  ///
  /// - Parameter text: `HOST`, with an account and `@` before it, and `:` and a port after it, if
  ///   needed. An IPv6 address with a port is in brackets. An account may contain `@`. It is
  ///   percent-decoded, and `:`, `/` and `%` are written `%3A`, `%2F` and `%25`.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it is a URL, if the
  ///   account is empty or has `:` or `/`, which may belong to a password, if the port is not a
  ///   number from 1 to 65535, or if the host is empty or has characters that no host has. The error
  ///   does not repeat the text.
  public init(_ text: String) throws(KeychainError) {
    let parts = text.utf8.lastIndex(of: UInt8(ascii: "@")).map {
      (text[..<$0], text[$0...].dropFirst())
    }
    guard let address = NetrcAddress(String(parts?.1 ?? text[...])) else {
      throw .invalidNetrcSelection
    }
    if let written = parts?.0 {
      let isName = !written.utf8.contains { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
      guard isName, let name = String(written).percentDecoded, !name.isEmpty else {
        throw .invalidNetrcAccount
      }
      account = name
    } else {
      account = nil
    }
    host = address.host
    writtenHost = address.writtenHost
    port = address.port
  }

  /// Compares the parts as bytes.
  public static func == (left: Self, right: Self) -> Bool {
    left.description.hasSameBytes(as: right.description)
  }

  /// Hashes the parts as bytes.
  ///
  /// - Parameter hasher: Takes the bytes.
  public func hash(into hasher: inout Hasher) {
    description.hashUTF8(into: &hasher)
  }
}

extension NetrcSelection: CustomStringConvertible {
  /// The selection as it is written on a command line.
  public var description: String {
    (account.map { $0.percentEncoded(keeping: "@") + "@" } ?? "") + address
  }

  /// The selection without its account.
  var address: String { port.map { address("\($0)") } ?? host }

  /// Returns the host with a port.
  func address(_ port: String) -> String {
    (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":" + port
  }
}
