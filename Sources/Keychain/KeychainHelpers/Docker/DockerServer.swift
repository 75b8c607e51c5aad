internal import KeychainCredentials
internal import PrephirencesSystem

/// The name of a registry, as a client says it.
struct DockerServer {
  /// A longer one is a mistake or an attack; names of hosts have at most 253 bytes.
  static let maximumCount = 4096

  let name: String

  /// Checks a name.
  ///
  /// - Parameter name: The name, without white space around it.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument`` if it is too long or has
  ///   control characters, which the lines and lists of clients cannot show. An empty one is the
  ///   caller's.
  init(_ name: String) throws(KeychainError) {
    guard name.utf8.count <= Self.maximumCount else {
      throw KeychainError(
        .invalidArgument, "the name of the registry is longer than \(Self.maximumCount) bytes")
    }
    guard name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw KeychainError(
        .invalidArgument, "the name of the registry has control characters, which no registry has")
    }
    self.name = name
  }

  /// The names under which the registry may be stored, in the order in which they are tried: as it
  /// is, without the final slash, without `https://`, without both.
  ///
  /// Nothing else is the same registry: no other host, port, path or case. A name without a scheme
  /// is reached by https, and its login must not be sent in clear text.
  var spellings: [String] {
    var spellings = [name]
    for spelling in [
      Self.withoutSlash(name), Self.withoutScheme(name),
      Self.withoutSlash(Self.withoutScheme(name)),
    ] where !spelling.isEmpty && !spellings.contains(where: { $0.hasSameBytes(as: spelling) }) {
      spellings.append(spelling)
    }
    return spellings
  }

  private static func withoutSlash(_ name: String) -> String {
    name.utf8.last == UInt8(ascii: "/")
      ? String(decoding: name.utf8.dropLast(), as: UTF8.self) : name
  }

  private static func withoutScheme(_ name: String) -> String {
    let scheme = "https://"
    guard name.foldingASCIICase.utf8.starts(with: scheme.utf8) else { return name }
    return String(decoding: name.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)
  }
}
