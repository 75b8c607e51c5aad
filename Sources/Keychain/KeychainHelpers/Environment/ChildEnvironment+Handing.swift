internal import KeychainCredentials
internal import KeychainSecrets

// How an environment gets to a program.
extension ChildEnvironment {
  /// The variables as a dictionary, as `Process.environment` of Foundation takes them.
  ///
  /// The values are copied into ordinary memory, which is not wiped. Inherited variables that are
  /// not text are left out.
  ///
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `undecodable` if a secret is not text.
  public var dictionary: [String: String] {
    get throws(KeychainError) { try texts() }
  }

  private func texts() throws(KeychainError) -> [String: String] {
    var all: [String: String] = [:]
    for variable in inherited.reversed() {
      guard let value = variable.value, let text = String(validating: value, as: UTF8.self),
        let name = String(validating: variable.name, as: UTF8.self)
      else { continue }
      all[name] = text
    }
    for (name, value) in added {
      let text = value.bytes.withBytes { bytes in
        bytes.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
      }
      guard let text else { throw .valueNotText(name) }
      all[name] = text
    }
    return all
  }

  /// Calls a closure with the variables as `execve` and `posix_spawn` take them.
  ///
  /// The texts lie in one block of guarded memory, which is wiped when the closure returns.
  ///
  /// - Parameter body: Gets pointers to texts `NAME=value` that end with NUL, and a null pointer
  ///   after the last. They must not be used after the call.
  /// - Returns: What the closure returns.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `insufficientMemory`, or what the closure
  ///   throws.
  public func withPointers<Result>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> Result
  ) throws -> Result {
    let block = try block()
    return try block.texts.withBytes { bytes in
      try bytes.withUnsafeBytes { buffer in
        let texts = buffer.bindMemory(to: CChar.self)
        var pointers = block.offsets.map { offset in texts.baseAddress.map { $0 + offset } }
        pointers.append(nil)
        return try pointers.withUnsafeBufferPointer { list in
          guard let start = list.baseAddress else {
            throw KeychainError(.internalFailure, "the environment has no place in memory")
          }
          return try body(start)
        }
      }
    }
  }

  private struct Block: ~Copyable {
    let texts: SecretBytes
    let offsets: [Int]
  }

  private func block() throws(KeychainError) -> Block {
    try translating { () throws(SecretsError) in
      var texts = try SecretBuffer()
      var offsets: [Int] = []
      for variable in inherited {
        offsets.append(texts.count)
        try texts.append(variable.entry.span.bytes)
        try texts.append(0)
      }
      for (name, value) in added {
        offsets.append(texts.count)
        try texts.append(Array("\(name)=".utf8).span.bytes)
        try value.bytes.withBytes { bytes throws(SecretsError) in try texts.append(bytes) }
        try texts.append(0)
      }
      return Block(texts: try texts.finish(), offsets: offsets)
    }
  }
}
