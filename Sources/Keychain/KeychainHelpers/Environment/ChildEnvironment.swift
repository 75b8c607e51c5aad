internal import Glibc
internal import KeychainCredentials
public import KeychainSecrets

/// The variables, some of them secret, of a program that this process starts or becomes.
///
/// Values stay in guarded memory until the program gets them. The variables never include those
/// that unlock this process's stores (`KEYCHAIN_PASSPHRASE`, `KEYCHAIN_PASSPHRASE_FILE`,
/// `KEYCHAIN_KEY_FILE`, `KEYCHAIN_IDENTITY_FILE`).
///
/// An environment is not a safe place. While the program runs, every process of the same user can
/// read it in `/proc/PID/environ`; the program passes it on to the programs that it starts; and
/// many programs print it when they fail. Prefer ``InheritedFile`` if a program can read a file.
/// file.
public struct ChildEnvironment: Sendable {
  /// The variables of this process that the program gets.
  @nonexhaustive public enum Inheritance: Hashable, Sendable {
    /// All, except those that unlock this process's stores.
    case all

    /// `PATH`, `HOME`, `PWD`, `USER`, `LOGNAME`, `SHELL`, `TERM`, `COLORTERM`, `NO_COLOR`, `LANG`,
    /// `LANGUAGE`, `LC_*`, `TZ` and `TMPDIR`, and those that locate the stores: `KEYCHAIN_VAULT`,
    /// `KEYCHAIN_STORE`, `KEYCHAIN_NO_PROMPT`, `KEYCHAIN_QUIET`, `KEYCHAIN_ALLOW_READ`,
    /// `KEYCHAIN_TRUSTED_FOLDERS`, `STATE_DIRECTORY`, `CREDENTIALS_DIRECTORY`,
    /// `DBUS_SESSION_BUS_ADDRESS`, `GIT_TERMINAL_PROMPT`, `XDG_CACHE_HOME`, `XDG_CONFIG_HOME`,
    /// `XDG_DATA_HOME`, `XDG_STATE_HOME` and `XDG_RUNTIME_DIR`.
    case usual

    /// None.
    case none
  }

  /// The variables that replaced an inherited one with another value that was not a reference.
  public private(set) var replacedNames: [String] = []

  var inherited: [InheritedVariable]
  private(set) var added: [(name: String, value: SharedSecret)] = []

  /// The bytes of all names, and possibly of removed ones.
  private var names: Set<[UInt8]>

  /// Creates an environment with variables of this process.
  public init(inheriting inheritance: Inheritance = .all) {
    self.init(inheritance, of: InheritedVariable.ofProcess())
  }

  init(_ inheritance: Inheritance, of variables: [InheritedVariable]) {
    inherited = variables.filter { variable in
      switch inheritance {
      case .all: !VariableRules.unlocks(variable.name)
      case .usual: VariableRules.isUsual(variable.name)
      case .none: false
      }
    }
    names = Set(inherited.map { Array($0.name) })
  }

  /// The names of the variables that were set, in their order.
  public var addedNames: [String] { added.map(\.name) }

  /// Sets a variable, and replaces an earlier or inherited one.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `invalidArgument` if the name is empty
  ///   or has an equals sign or NUL, `refused` if it is one of those that unlock, `undecodable` if
  ///   the value has a NUL, or `insufficientMemory`.
  public mutating func set(_ name: String, to value: borrowing SecretBytes) throws(KeychainError) {
    guard VariableRules.isValid(name) else { throw .invalidVariableName }
    guard !VariableRules.unlocks(name.utf8) else { throw .unlockingVariable(name) }
    let hasNUL = value.withBytes { bytes in bytes.withUnsafeBytes { $0.contains(0) } }
    guard !hasNUL else { throw .valueWithNUL(name) }
    let secret = try SharedSecret(copying: value)
    if !names.insert(Array(name.utf8)).inserted {
      if replacesAnother(name, secret) { replacedNames.append(name) }
      remove(name)
    }
    added.append((name, secret))
  }

  /// Sets a variable to text, and replaces an earlier or inherited one.
  ///
  /// - Throws: As ``set(_:to:)-(_,SecretBytes)``.
  public mutating func set(_ name: String, to text: String) throws(KeychainError) {
    try set(name, to: SecretBytes(copying: text))
  }

  /// Removes a variable, if there is one.
  public mutating func remove(_ name: String) {
    inherited.removeAll { $0.name.elementsEqual(name.utf8) }
    added.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
  }

  private func replacesAnother(_ name: String, _ value: SharedSecret) -> Bool {
    guard let old = inherited.first(where: { $0.name.elementsEqual(name.utf8) })?.value,
      String(validating: old, as: UTF8.self).map(CredentialReference.isReference) != true
    else { return false }
    return value.bytes.withBytes { bytes in bytes.withUnsafeBytes { !$0.elementsEqual(old) } }
  }
}

// The limits of the kernel (`E2BIG`), checked before anything is started.
extension ChildEnvironment {
  /// Checks that the kernel will accept the environment together with a command's arguments.
  ///
  /// Linux limits each variable and argument to 32 pages (128 KiB), and all of them to a quarter of
  /// the stack's limit, at most 6 MiB.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `tooLarge`, which names the variable.
  public func checkSize(arguments: [[UInt8]]) throws(KeychainError) {
    let textLimit = 32 * sysconf(Int32(_SC_PAGESIZE))
    for (name, value) in added where name.utf8.count + value.bytes.count + 2 > textLimit {
      throw .variableTooLong(name)
    }
    let sizes =
      arguments.map(\.count) + inherited.map(\.entry.count)
      + added.map { $0.name.utf8.count + 1 + $0.value.bytes.count }
    let pointer = MemoryLayout<UnsafePointer<CChar>>.size
    // Room for the path of the program, and for what the kernel adds.
    let total = sizes.reduce(Int(PATH_MAX) + 4096) { $0 + $1 + 1 + pointer }
    guard total > Self.totalLimit else { return }
    let largest = added.max { $0.value.bytes.count < $1.value.bytes.count }
    throw .environmentTooLarge(largest?.name)
  }

  /// See `bprm_stack_limits` in the kernel, and execve(2).
  private static var totalLimit: Int {
    var stack = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_STACK.rawValue), &stack)
    let quarter = Int(min(stack.rlim_cur / 4, 6 << 20))
    return max(quarter, 128 << 10)
  }

  // How a program gets the environment.

  /// The variables as a dictionary, for `Process.environment` of Foundation.
  ///
  /// The values are copied into ordinary memory, which is not wiped. Inherited variables that are
  /// not text are left out.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `undecodable` if a secret is not text.
  public var dictionary: [String: String] { get throws(KeychainError) { try texts() } }

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

  /// Calls a closure with the variables in the form that `execve` and `posix_spawn` take.
  ///
  /// The texts lie in one block of guarded memory, which is wiped when the closure returns.
  ///
  /// - Parameter body: Gets pointers to texts `NAME=value` that end with NUL, and a null pointer
  ///   after the last. They must not be used after the call.
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `insufficientMemory`, or the closure's
  ///   error.
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
      try texts.append(value.bytes)
      try texts.append(0)
    }
    return Block(texts: try texts.finish(), offsets: offsets)
  }
}

/// An inherited variable with its bytes, which may not be text.
struct InheritedVariable: Sendable {
  /// The whole entry, usually `NAME=value`.
  let entry: [UInt8]

  /// The name; the whole entry if it has no equals sign.
  var name: ArraySlice<UInt8> { entry[..<(sign ?? entry.endIndex)] }

  /// The value; `nil` if the entry has no equals sign.
  var value: ArraySlice<UInt8>? { sign.map { entry[($0 + 1)...] } }

  /// The name, the value and its reference; `nil` if the value is not a reference.
  func reference() throws(KeychainError) -> (name: String, CredentialReference)? {
    guard let value, let text = String(validating: value, as: UTF8.self),
      CredentialReference.isReference(text), let name = String(validating: name, as: UTF8.self)
    else { return nil }
    do throws(KeychainError) {
      return (name, try CredentialReference(text))
    } catch { throw error.located("the inherited variable '\(name)'") }
  }

  private var sign: Int? { entry.firstIndex(of: UInt8(ascii: "=")) }

  /// The variables of this process, in their order, except those that unlock its stores: their
  /// copies would stay in ordinary memory.
  static func ofProcess(
    _ entries: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
  ) -> [Self] {
    var found: [Self] = []
    var next = entries
    while let entry = next?.pointee {
      let bytes = UnsafeRawBufferPointer(start: entry, count: strlen(entry))
      if !VariableRules.unlocks(bytes.prefix { $0 != UInt8(ascii: "=") }) {
        found.append(Self(entry: Array(bytes)))
      }
      next = next?.advanced(by: 1)
    }
    return found
  }
}
