import Glibc
import KeychainSecrets

/// Bytes to search for in memory.
///
/// They are stored masked, so that the search does not find them here.
struct MaskedBytes: Sendable {
  let name: String
  private let masked: [UInt8]
  private static let mask: UInt8 = 0xA5

  init(_ name: String, _ secret: borrowing SecretBytes) {
    self.name = name
    masked = secret.withBytes { bytes in
      (0..<bytes.byteCount).map { bytes.byte(at: $0) ^ Self.mask }
    }
  }

  /// Unmasks the bytes into guarded memory.
  func secret() throws -> SecretBytes {
    try SecretBytes(count: masked.count) { memory in
      for (index, byte) in masked.enumerated() {
        memory.storeBytes(of: byte ^ Self.mask, toByteOffset: index, as: UInt8.self)
      }
    }
  }

  fileprivate func unmask(into needle: UnsafeMutablePointer<UInt8>) -> Int {
    for (index, byte) in masked.enumerated() { needle[index] = byte ^ Self.mask }
    return masked.count
  }
}

/// Searches all memory that the process can write.
struct MemoryScan: ~Copyable {
  private static let chunk = 1 << 20
  private let needle: UnsafeMutablePointer<UInt8>
  private let buffer: UnsafeMutablePointer<UInt8>
  private let own: [UnsafeMutableRawPointer]

  struct NoMemory: Error {}

  init() throws {
    // Uses shared mappings, because the kernel merges private ones with their neighbours, and these
    // must be excluded from the scan.
    let pages = [4096, Self.chunk + 4096].compactMap { size -> UnsafeMutableRawPointer? in
      let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
      return page == MAP_FAILED ? nil : page
    }
    guard pages.count == 2 else { throw NoMemory() }
    own = pages
    needle = pages[0].assumingMemoryBound(to: UInt8.self)
    buffer = pages[1].assumingMemoryBound(to: UInt8.self)
  }

  deinit {
    munmap(own[0], 4096)
    munmap(own[1], Self.chunk + 4096)
  }

  /// Returns how often the bytes occur in memory.
  func count(of bytes: MaskedBytes) -> Int {
    let length = bytes.unmask(into: needle)
    defer { memset(needle, 0, 4096) }
    let memory = open("/proc/self/mem", O_RDONLY)
    guard memory >= 0 else { return -1 }
    defer { close(memory) }
    return regions().reduce(0) { $0 + count(length, in: $1, memory) }
  }

  private func count(_ length: Int, in region: Range<UInt>, _ memory: CInt) -> Int {
    var found = 0
    var start = region.lowerBound
    while start < region.upperBound {
      // Chunks overlap, so that matches across their borders are found.
      let size = min(Self.chunk + length - 1, Int(region.upperBound - start))
      let read = pread(memory, buffer, size, off_t(start))
      if read > 0 { found += occurrences(length, read) }
      start += UInt(Self.chunk)
    }
    memset(buffer, 0, Self.chunk + 4096)
    return found
  }

  private func occurrences(_ length: Int, _ size: Int) -> Int {
    var found = 0
    var offset = 0
    while size - offset >= length,
      let hit = memchr(buffer + offset, CInt(needle[0]), size - offset - length + 1)
    {
      if memcmp(hit, needle, length) == 0 { found += 1 }
      offset = hit - UnsafeMutableRawPointer(buffer) + 1
    }
    return found
  }

  private func regions() -> [Range<UInt>] {
    var text = ""
    guard let file = fopen("/proc/self/maps", "r") else { return [] }
    defer { fclose(file) }
    var line = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&line, 1, line.count, file)
      guard count > 0 else { break }
      text += String(decoding: line[..<count], as: UTF8.self)
    }
    return text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard ends.count == 2, fields[1].contains("w") || fields[1].hasPrefix("r--p"),
        !line.hasSuffix("[vvar]"),
        !own.contains(where: { (ends[0]..<ends[1]).contains(UInt(bitPattern: $0)) })
      else { return nil }
      return ends[0]..<ends[1]
    }
  }
}
