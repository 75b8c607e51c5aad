internal import Glibc
internal import KeychainCredentials

/// The address of the session bus: a socket of this machine.
///
/// Other kinds of addresses are ignored: the kernel cannot vouch for the user of a bus over TCP,
/// and a bus that would have to be started first is not the session's bus.
enum BusAddress: Hashable, Sendable {
  /// A socket in the file system.
  case path(String)

  /// A socket in the abstract namespace.
  case abstract(String)

  /// Finds the bus of an environment, without starting one.
  init(environment: [String: String]) throws(KeychainError) {
    if let text = environment["DBUS_SESSION_BUS_ADDRESS"], !text.isEmpty {
      guard let found = Self.parse(text) else {
        throw KeychainError(
          .noStore, "the session bus of DBUS_SESSION_BUS_ADDRESS is not a socket of this machine",
          recovery: Self.recovery)
      }
      self = found
      return
    }
    // The variable is often missing although there is a bus, such as under `sudo -u` or in cron.
    guard let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"),
      unsafe access(runtime + "/bus", F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    else {
      throw KeychainError(.noStore, "there is no session bus here", recovery: Self.recovery)
    }
    self = .path(runtime + "/bus")
  }

  static let recovery: KeychainError.Recovery = "use the vault, or log in to a desktop"

  /// Returns the first usable address of a list in the format of the D-Bus specification.
  static func parse(_ text: String) -> Self? {
    for address in text.split(separator: ";") {
      guard let colon = address.firstIndex(of: ":"), address[..<colon] == "unix" else { continue }
      for pair in address[address.index(after: colon)...].split(separator: ",") {
        let parts = pair.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let value = unescaped(parts[1]) else {
          continue
        }
        if parts[0] == "path" { return .path(value) }
        if parts[0] == "abstract" { return .abstract(value) }
      }
    }
    return nil
  }

  /// Returns a value without its escapes (`%20`); `nil` if one is malformed or the bytes are not
  /// UTF-8.
  ///
  /// Foundation's decoder converts the text several times, which takes a third of a millisecond.
  private static func unescaped(_ value: Substring) -> String? {
    guard value.utf8.contains(UInt8(ascii: "%")) else { return String(value) }
    var bytes: [UInt8] = []
    var rest = value.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension BusAddress: CustomStringConvertible {
  var description: String {
    switch self {
    case .path(let path): "unix:path=\(path)"
    case .abstract(let name): "unix:abstract=\(name)"
    }
  }
}
