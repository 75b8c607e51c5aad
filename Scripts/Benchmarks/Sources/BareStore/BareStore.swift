import CSodiumForBare
import Foundation
import Glibc

/// The minimum work of a vault: the same reads, writes, boxes and syncs, without the vault's protections.
public final class BareStore {
  struct Failure: Error {
    let call: String
    let status = errno
  }

  private let path: String
  private let descriptor: Int32
  private let size: Int
  private static let key = [UInt8](repeating: 0, count: 32)
  private static let itemsOfPage = 10

  /// What a vault reads for one item: its page, with the box of the names in it, and the box of the secret.
  private let page = BareStore.sealed(4096)
  private let names = BareStore.sealed(2560)
  private let secret = BareStore.sealed(256)

  /// What a vault appends for one item: a frame with the box of a commit, and the box of the secret.
  private let commit = [UInt8](repeating: 7, count: 736 + 296)

  /// What a vault writes of the state that was seen.
  private let record = [UInt8](repeating: 7, count: 320)

  /// Opens a copy of a vault's file, which is no vault afterwards; an empty file if there is none.
  public init(path: String) throws {
    guard sodium_init() >= 0 else { throw Failure(call: "sodium_init") }
    self.path = path
    descriptor = try Self.open(path, O_RDWR | O_CREAT)
    size = Int(lseek(descriptor, 0, SEEK_END))
    let seen = try Self.open(path + ".seen", O_RDWR | O_CREAT)
    try Self.write(record, to: seen, at: 0)
    close(seen)
  }

  deinit { close(descriptor) }

  /// Reads a page and a box, makes a guarded allocation, and opens three boxes.
  public func get(_ call: Int) throws {
    guard size > page.count, let memory = sodium_malloc(page.count) else {
      throw Failure(call: "malloc")
    }
    defer { sodium_free(memory) }
    let place = call * 7919 * 4096 % (size - page.count)
    for box in [page, secret] {
      guard pread(descriptor, memory, box.count, off_t(place)) == box.count else {
        throw Failure(call: "pread")
      }
    }
    for box in [page, names, secret] { try Self.open(box, into: memory) }
  }

  /// Reads as many bytes as the pages of so many items, and opens the two boxes of each.
  public func list(count: Int) throws {
    guard size > page.count, let memory = sodium_malloc(page.count) else {
      throw Failure(call: "malloc")
    }
    defer { sodium_free(memory) }
    for number in 0..<(count / Self.itemsOfPage) {
      let place = number * page.count % (size - page.count)
      guard pread(descriptor, memory, page.count, off_t(place)) == page.count else {
        throw Failure(call: "pread")
      }
      for box in [page, names] { try Self.open(box, into: memory) }
    }
  }

  /// Opens and locks the file, appends a commit durably, and writes the record of the state that was seen.
  public func set() throws {
    let file = try Self.open(path, O_RDWR)
    defer { close(file) }
    guard flock(file, LOCK_EX) == 0 else { throw Failure(call: "flock") }
    try Self.write(commit, to: file, at: Int(lseek(file, 0, SEEK_END)))
    guard fdatasync(file) == 0 else { throw Failure(call: "fdatasync") }
    let seen = try Self.open(path + ".seen", O_RDWR)
    defer { close(seen) }
    guard flock(seen, LOCK_EX) == 0 else { throw Failure(call: "flock") }
    try Self.write(record, to: seen, at: 0)
  }

  /// Makes the file anew with as many items: their boxes are sealed, written and synced, and it takes the name.
  public func replace(count: Int) throws {
    let file = try Self.open(path + ".new", O_RDWR | O_CREAT | O_TRUNC)
    defer { close(file) }
    var buffer: [UInt8] = []
    var place = 0
    for number in 0..<count {
      buffer += Self.sealed(secret.count - Self.overhead)
      if (number + 1) % Self.itemsOfPage == 0 { buffer += Self.sealed(page.count - Self.overhead) }
      guard buffer.count >= 1 << 20 || number == count - 1 else { continue }
      try Self.write(buffer, to: file, at: place)
      place += buffer.count
      buffer = []
    }
    guard fsync(file) == 0, rename(path + ".new", path) == 0 else { throw Failure(call: "rename") }
    let folder = try Self.open((path as NSString).deletingLastPathComponent, O_RDONLY)
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw Failure(call: "fsync") }
  }

  private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
    let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(call: "open") }
    return descriptor
  }

  private static func write(_ bytes: [UInt8], to file: Int32, at place: Int) throws {
    guard pwrite(file, bytes, bytes.count, off_t(place)) == bytes.count else {
      throw Failure(call: "pwrite")
    }
  }
}

// Boxes under a key of zeros.
extension BareStore {
  private static let overhead = 40

  private static func sealed(_ count: Int) -> [UInt8] {
    var box = [UInt8](repeating: 0, count: count + overhead)
    randombytes_buf(&box, 24)
    let message = [UInt8](repeating: 7, count: count)
    box.withUnsafeMutableBufferPointer { box in
      guard let start = box.baseAddress else { return }
      crypto_secretbox_easy(start + 24, message, UInt64(count), start, key)
    }
    return box
  }

  private static func open(_ box: [UInt8], into memory: UnsafeMutableRawPointer) throws {
    let status = box.withUnsafeBufferPointer { box in
      guard let start = box.baseAddress else { return CInt(-1) }
      return crypto_secretbox_open_easy(
        memory.assumingMemoryBound(to: UInt8.self), start + 24, UInt64(box.count - 24), start, key)
    }
    guard status == 0 else { throw Failure(call: "crypto_secretbox_open_easy") }
  }

  /// Creates the file of the program `BareGet`: one item of two boxes that a key of zeros opens.
  public static func makeVaultForBareGet(_ path: String) throws {
    try Data(sealed(256) + sealed(256)).write(to: URL(filePath: path))
  }
}
