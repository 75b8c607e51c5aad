internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// Passes messages between a bus and GLib, and keeps out those that would take too much memory.
///
/// GLib takes a whole message apart before anybody can refuse it, into values of a hundred bytes for
/// two bytes of a message. It keeps signals until they are handled, and answers to calls that it did
/// not expect until the bus takes them. So GLib gets one end of a pair of sockets, and two threads
/// pass on what goes to and from the bus. Secrets are encrypted on the bus, and so they are here.
final class BusRelay: @unchecked Sendable {
  // @unchecked Sendable because the descriptors never change, and are closed when both threads and
  // the connection have let go.
  private let bus: CInt
  private let near: CInt

  /// Whether GLib has ended the handshake, so that messages follow.
  private let hasBegun = Atomic(false)

  /// How many bytes of answers may still be passed on; see ``renewAllowance()``.
  private let allowance = Atomic(BusRelay.groupLimit)

  private let reason = PosixMutex<BusError?>(nil)

  /// What answers to calls that are made together may have; further calls are repeated later.
  private static let groupLimit = 64 << 20

  /// What the bus may send before messages begin.
  private static let handshakeLimit = 1 << 14

  /// Creates a relay for a connected socket, of which it keeps a copy.
  ///
  /// - Returns: The relay, and the descriptor for GLib.
  static func start(_ socket: borrowing BusSocket) throws(Errno) -> (BusRelay, far: CInt) {
    var ends: [CInt] = [-1, -1]
    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .current }
    let bus = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
    guard bus >= 0 else {
      let failure = Errno.current
      for end in ends { Glibc.close(end) }
      throw failure
    }
    // The threads wait in reading and writing, until the sockets are shut down.
    _ = fcntl(bus, F_SETFL, fcntl(bus, F_GETFL) & ~O_NONBLOCK)
    let relay = BusRelay(bus: bus, near: ends[0])
    do throws(Errno) {
      try DetachedThread.start(named: "keyring send") {
        relay.passToBus()
        relay.end()
      }
      try DetachedThread.start(named: "keyring receive") {
        relay.passToLibrary()
        relay.end()
      }
    } catch {
      relay.end()
      Glibc.close(ends[1])
      throw error
    }
    return (relay, ends[1])
  }

  private init(bus: CInt, near: CInt) {
    self.bus = bus
    self.near = near
  }

  deinit {
    Glibc.close(bus)
    Glibc.close(near)
  }

  /// Why the relay has ended the connection; `nil` if it has not.
  var failure: BusError? { reason.withLock { $0 } }

  /// Ends the connection, so that calls that wait for an answer fail.
  func end() { for descriptor in [bus, near] { shutdown(descriptor, CInt(SHUT_RDWR)) } }

  /// Lets answers to the next calls that are made together pass.
  func renewAllowance() { allowance.store(Self.groupLimit, ordering: .relaxed) }

  private func passToBus() {
    var isHandshake = true
    var last: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let begin = Array("BEGIN\r\n".utf8)
    while let count = Self.receive(near, &buffer) {
      if isHandshake {
        last = last.suffix(begin.count - 1) + buffer[..<count]
        if last.indices.contains(where: { last[$0...].starts(with: begin) }) {
          isHandshake = false
          // Before the bus reads it, and answers with messages.
          hasBegun.store(true, ordering: .releasing)
        }
      }
      guard Self.send(buffer[..<count], to: bus) else { return }
    }
  }

  private func passToLibrary() {
    var input = Input(descriptor: bus)
    var handshakeCount = 0
    // Whatever arrives after the handshake has ended is a message.
    while input.fill() {
      if hasBegun.load(ordering: .acquiring) { break }
      handshakeCount += input.count
      guard handshakeCount <= Self.handshakeLimit, Self.send(input.takeAll(), to: near) else {
        return
      }
    }
    var signals = SignalAllowance()
    var hasPassed = false
    do throws(BusError) {
      while try passMessage(&input, &signals, &hasPassed) {}
    } catch { reason.withLock { $0 = error } }
  }

  /// Passes on the next message; returns `false` at the end of the connection.
  ///
  /// `hasPassed` is whether one was passed on.
  private func passMessage(
    _ input: inout Input, _ signals: inout SignalAllowance, _ hasPassed: inout Bool
  ) throws(BusError) -> Bool {
    guard input.fill(BusMessageHeader.fixedCount) else { return false }
    guard var header = BusMessageHeader(fixed: input.bytes) else { throw .unexpectedType }
    // The type of a variant is at its beginning.
    let beginning = header.headerCount + min(header.bodyCount, 8)
    guard input.fill(beginning) else { return false }
    guard header.read(fields: input.bytes) else { throw .unexpectedType }
    let total = header.headerCount + header.bodyCount
    switch verdict(on: header, body: input.bytes.dropFirst(header.headerCount)) {
    case .pass:
      if header.kind == .signal, !signals.take() { throw .flooded }
      hasPassed = true
      return input.take(total) { Self.send($0, to: near) }
    case .refuse(let name):
      // GLib's own greeting would look like that of no bus.
      guard hasPassed else { throw .tooLarge }
      guard header.replySerial == nil || Self.send(header.error(named: name)[...], to: near) else {
        return false
      }
      fallthrough
    case .drop: return input.take(total) { _ in true }
    }
  }

  private enum Verdict {
    case pass
    case drop
    case refuse(String)
  }

  private func verdict(on header: BusMessageHeader, body: ArraySlice<UInt8>) -> Verdict {
    switch header.kind {
    // Nothing of ours can be called.
    case nil, .call: return .drop
    case .signal: return header.bodyCount <= Self.signalLimit ? .pass : .drop
    case .reply, .error:
      guard header.bodyCount <= Self.limit(header.signature, body) else {
        return .refuse(BusError.tooLargeName)
      }
      let left = allowance.wrappingSubtract(header.bodyCount, ordering: .relaxed).newValue
      return left >= 0 ? .pass : .refuse(BusError.limitExceededName)
    }
  }

  /// Our signals have a path or two.
  private static let signalLimit = 1 << 16

  /// Returns the maximum number of bytes of an answer, by its type.
  private static func limit(_ signature: String, _ body: ArraySlice<UInt8>) -> Int {
    switch signature == "v" ? held(body) : signature {
    // A secret of 16 MiB in base64, encrypted; GLib keeps bytes as they are.
    case "(oayays)": 24 << 20
    // The paths of 50,000 items; what is known about an item; the secrets of many items.
    case "ao", "a{ss}", "a{o(oayays)}": 8 << 20
    default: 1 << 20
    }
  }

  /// Returns the type in a variant.
  private static func held(_ body: ArraySlice<UInt8>) -> String {
    let count = Int(body.first ?? 0)
    return String(decoding: body.dropFirst().prefix(count), as: UTF8.self)
  }
}

/// How many signals GLib may have to keep until they are handled.
private struct SignalAllowance {
  private var left = Self.capacity
  private var renewed = ContinuousClock.now

  private static let capacity = 50_000.0
  private static let perSecond = 5_000.0

  /// Takes one; returns `false` if there is none left.
  mutating func take() -> Bool {
    let now = ContinuousClock.now
    left = min(Self.capacity, left + renewed.duration(to: now) / .seconds(1) * Self.perSecond)
    renewed = now
    left -= 1
    return left >= 0
  }
}

extension BusRelay {
  /// What was received and not taken yet.
  private struct Input {
    let descriptor: CInt
    private var storage = [UInt8](repeating: 0, count: 1 << 17)
    private var range = 0..<0

    init(descriptor: CInt) { self.descriptor = descriptor }

    var bytes: ArraySlice<UInt8> { storage[range] }
    var count: Int { range.count }

    /// Receives until there are so many bytes; returns `false` at the end of the connection.
    mutating func fill(_ wanted: Int) -> Bool {
      while range.count < wanted { guard fill() else { return false } }
      return true
    }

    /// Receives what there is, at least a byte.
    mutating func fill() -> Bool {
      if range.lowerBound > 0 {
        storage.replaceSubrange(0..<range.count, with: Array(bytes))
        range = 0..<range.count
      }
      guard let count = BusRelay.receive(descriptor, &storage, from: range.upperBound) else {
        return false
      }
      range = 0..<(range.upperBound + count)
      return true
    }

    mutating func takeAll() -> ArraySlice<UInt8> {
      defer { range = 0..<0 }
      return bytes
    }

    /// Takes so many bytes in pieces; returns `false` at the end of the connection, or when `body`
    /// does.
    mutating func take(_ wanted: Int, _ body: (ArraySlice<UInt8>) -> Bool) -> Bool {
      var left = wanted
      while left > 0 {
        if range.isEmpty { guard fill() else { return false } }
        let piece = bytes.prefix(left)
        guard body(piece) else { return false }
        left -= piece.count
        range = (range.lowerBound + piece.count)..<range.upperBound
      }
      return true
    }
  }

  /// Returns the number of bytes received; `nil` at the end of the connection.
  private static func receive(
    _ descriptor: CInt, _ buffer: inout [UInt8], from start: Int = 0
  ) -> Int? {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { buffer in
        unsafe recv(
          descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start, 0)
      }
      if count > 0 { return count }
      guard count < 0, errno == EINTR else { return nil }
    }
  }

  /// Sends all bytes; returns `false` at the end of the connection.
  private static func send(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      var offset = 0
      while offset < buffer.count {
        let count = unsafe Glibc.send(
          descriptor, buffer.baseAddress.map { unsafe $0 + offset }, buffer.count - offset,
          CInt(MSG_NOSIGNAL))
        if count >= 0 {
          offset += count
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}

/// The header of a D-Bus message, as far as it says what the message is and how much of it follows.
struct BusMessageHeader {
  enum Kind: UInt8 {
    case call = 1
    case reply = 2
    case error = 3
    case signal = 4
  }

  /// `nil` for a kind that this version of the protocol does not have.
  let kind: Kind?

  /// The number of bytes of the whole header, and of the body after it.
  let headerCount: Int
  let bodyCount: Int

  private let isBigEndian: Bool

  /// The number of the call that the message answers.
  private(set) var replySerial: UInt32?

  /// The type of the body.
  private(set) var signature = ""

  /// The number of bytes that say how long the rest is.
  static let fixedCount = 16

  /// The maximum number of bytes of a message, by the specification.
  private static let maximumCount = 1 << 27

  /// A header names objects and members, which takes much less.
  private static let maximumFieldCount = 1 << 16

  /// Reads the first bytes of a message; `nil` if they begin no valid message.
  init?(fixed bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.fixedCount, let first = bytes.first,
      first == UInt8(ascii: "l") || first == UInt8(ascii: "B"),
      bytes[bytes.startIndex + 3] == 1
    else { return nil }
    isBigEndian = first == UInt8(ascii: "B")
    kind = Kind(rawValue: bytes[bytes.startIndex + 1])
    let body = Self.number(bytes, 4, isBigEndian)
    let fields = Self.number(bytes, 12, isBigEndian)
    guard fields <= Self.maximumFieldCount, body <= Self.maximumCount else { return nil }
    headerCount = (Self.fixedCount + Int(fields) + 7) & ~7
    bodyCount = Int(body)
  }

  /// Reads the fields that matter here; returns `false` if they are not valid.
  mutating func read(fields bytes: ArraySlice<UInt8>) -> Bool {
    let end = Self.fixedCount + Int(Self.number(bytes, 12, isBigEndian))
    var place = Self.fixedCount
    func byte(_ offset: Int) -> UInt8? { offset < end ? bytes[bytes.startIndex + offset] : nil }
    while place < end {
      // The code of the field, and its type: a signature of one letter.
      guard let code = byte(place), byte(place + 1) == 1, let type = byte(place + 2),
        byte(place + 3) == 0
      else { return false }
      place += 4
      switch Unicode.Scalar(type) {
      case "u":
        guard place + 4 <= end else { return false }
        if code == 5 { replySerial = Self.number(bytes, place, isBigEndian) }
        place += 4
      case "s", "o":
        guard place + 4 <= end else { return false }
        place += 4 + Int(Self.number(bytes, place, isBigEndian)) + 1
      case "g":
        guard let count = byte(place), place + 2 + Int(count) <= end else { return false }
        let start = bytes.startIndex + place + 1
        if code == 8 {
          signature = String(decoding: bytes[start..<(start + Int(count))], as: UTF8.self)
        }
        place += 2 + Int(count)
      default: return false
      }
      place = (place + 7) & ~7
    }
    return true
  }

  /// Returns an error as the answer to the same call.
  func error(named name: String) -> [UInt8] {
    var fields: [UInt8] = [4, 1, UInt8(ascii: "s"), 0]
    fields += Self.bytes(UInt32(name.utf8.count)) + Array(name.utf8) + [0]
    fields += [UInt8](repeating: 0, count: -fields.count & 7)
    fields += [5, 1, UInt8(ascii: "u"), 0] + Self.bytes(replySerial ?? 0)
    // Little-endian, an error that wants no reply, version 1, no body, any number.
    let fixed: [UInt8] = [UInt8(ascii: "l"), Kind.error.rawValue, 1, 1]
    let message =
      fixed + Self.bytes(0) + Self.bytes(.max) + Self.bytes(UInt32(fields.count)) + fields
    return message + [UInt8](repeating: 0, count: -message.count & 7)
  }

  private static func number(
    _ bytes: ArraySlice<UInt8>, _ offset: Int, _ isBigEndian: Bool
  ) -> UInt32 {
    let start = bytes.startIndex + offset
    return bytes[start..<(start + 4)].enumerated().reduce(0) { sum, next in
      sum | UInt32(next.element) << UInt32(8 * (isBigEndian ? 3 - next.offset : next.offset))
    }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
  }
}
