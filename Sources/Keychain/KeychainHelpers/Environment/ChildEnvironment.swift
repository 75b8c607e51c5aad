internal import Glibc
public import KeychainCredentials
public import KeychainSecrets

/// The variables of a program that this process starts or becomes, with secrets among them.
///
/// Values are kept in guarded memory until they are handed over. What unlocks this process's stores
/// (`KEYCHAIN_PASSPHRASE`, `KEYCHAIN_PASSPHRASE_FILE`, `KEYCHAIN_KEY_FILE`, `KEYCHAIN_IDENTITY_FILE`)
/// is never among the variables.
///
/// An environment is not a safe place: every process of the same user can read it in
/// `/proc/PID/environ` as long as the program runs, the program gives it to those that it starts,
/// and many programs print it when they fail. Prefer ``InheritedFile`` where a program can read a
/// file.
public struct ChildEnvironment: Sendable {
  /// Which variables of this process the program gets.
  public enum Inheritance: Hashable, Sendable {
    /// All, except those that unlock this process's stores.
    case all

    /// `PATH`, `HOME`, `PWD`, `USER`, `LOGNAME`, `SHELL`, `TERM`, `COLORTERM`, `NO_COLOR`, `LANG`,
    /// `LANGUAGE`, `LC_*`, `TZ` and `TMPDIR`, and what says where the stores are: `KEYCHAIN_VAULT`,
    /// `KEYCHAIN_STORE`, `KEYCHAIN_NO_PROMPT`, `KEYCHAIN_QUIET`, `KEYCHAIN_ALLOW_READ`,
    /// `KEYCHAIN_TRUSTED_FOLDERS`, `STATE_DIRECTORY`, `CREDENTIALS_DIRECTORY`,
    /// `DBUS_SESSION_BUS_ADDRESS`, `GIT_TERMINAL_PROMPT`, `XDG_CACHE_HOME`, `XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_STATE_HOME` and `XDG_RUNTIME_DIR`.
    case usual

    /// None.
    case none
  }

  /// The variables that replaced an inherited one with another value, which was no reference.
  public private(set) var replacedNames: [String] = []

  var inherited: [InheritedVariable]
  private(set) var added: [(name: String, value: SharedSecret)] = []

  /// The bytes of all names, and perhaps of some that were removed.
  private var names: Set<[UInt8]>

  /// Creates an environment.
  ///
  /// - Parameter inheritance: Which variables of this process it has.
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

  /// Sets a variable, in place of an earlier or inherited one.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - value: The value.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `invalidArgument` if the name is empty or
  ///   has an equals sign or NUL, `refused` if it is one of those that unlock, `undecodable` if the
  ///   value has a NUL, which no variable can hold, or `insufficientMemory`.
  public mutating func set(
    _ name: String, to value: borrowing SecretBytes
  ) throws(KeychainError) {
    guard VariableRules.isValid(name) else { throw .invalidVariableName }
    guard !VariableRules.unlocks(name.utf8) else { throw .unlockingVariable(name) }
    let hasNUL = value.withBytes { bytes in
      bytes.withUnsafeBytes { $0.contains(0) }
    }
    guard !hasNUL else { throw .valueWithNUL(name) }
    let secret = try SharedSecret(copying: value)
    if !names.insert(Array(name.utf8)).inserted {
      if replacesAnother(name, secret) { replacedNames.append(name) }
      remove(name)
    }
    added.append((name, secret))
  }

  /// Sets a variable to text, in place of an earlier or inherited one.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - text: The value.
  /// - Throws: As ``set(_:to:)-(_,SecretBytes)``.
  public mutating func set(_ name: String, to text: String) throws(KeychainError) {
    try set(name, to: translated(secrets: SecretBytes(copying: text)))
  }

  /// Removes a variable; nothing happens if there is none.
  ///
  /// - Parameter name: The name.
  public mutating func remove(_ name: String) {
    inherited.removeAll { $0.name.elementsEqual(name.utf8) }
    added.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
  }

  private func replacesAnother(_ name: String, _ value: SharedSecret) -> Bool {
    guard let old = inherited.first(where: { $0.name.elementsEqual(name.utf8) })?.value,
      String(validating: old, as: UTF8.self).map(CredentialReference.isReference) != true
    else { return false }
    return value.bytes.withBytes { bytes in
      bytes.withUnsafeBytes { !$0.elementsEqual(old) }
    }
  }
}
