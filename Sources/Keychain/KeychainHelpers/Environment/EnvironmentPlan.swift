public import KeychainCredentials
package import KeychainSecrets
internal import KeychainVault
package import PrephirencesSystem

/// The variables that a program will get, before anything is read from a store.
///
/// Of several values for a name, the first of these sources counts: variables that are set one by
/// one, those of a file, inherited ones.
///
/// ```swift
/// var plan = EnvironmentPlan()
/// try plan.set("PGPASSWORD", to: CredentialReference("keychain://database/admin"))
/// let resolver = ReferenceResolver(store: store, defaultService: "mytool")
/// let process = Process()
/// process.environment = try plan.resolve(with: resolver).dictionary
/// ```
public struct EnvironmentPlan: Sendable {
  /// The origin of a variable.
  @nonexhaustive public enum Source: String, Sendable {
    /// It was set by ``EnvironmentPlan/set(_:to:)``.
    case option

    /// A file has it.
    case file

    /// This process inherited it, and its value is a reference.
    case inherited
  }

  /// The future value of a variable.
  @nonexhaustive public enum Value: Sendable {
    /// Text that is not secret.
    case text(String)

    /// The value that a reference names.
    case reference(CredentialReference)
  }

  /// A variable that will be set.
  public struct Variable: Sendable {
    /// The name.
    public let name: String

    /// Its value.
    public let value: Value

    /// Its origin.
    public let source: Source
  }

  /// The variables to set, in the order in which they were found.
  public private(set) var variables: [Variable] = []

  /// The places of the variables by the bytes of their names.
  private var indices: [[UInt8]: Int] = [:]

  private let inheritance: ChildEnvironment.Inheritance
  private let inherited: [InheritedVariable]

  /// Creates a plan that only inherits variables of this process.
  public init(inheriting inheritance: ChildEnvironment.Inheritance = .all) {
    self.init(inheritance, of: InheritedVariable.ofProcess())
  }

  /// Creates a plan for a program that inherits a command's given variables.
  package init(
    inheriting inheritance: ChildEnvironment.Inheritance, from environment: EnvironmentVariables
  ) {
    let given = environment.values?.sorted { $0.key < $1.key }.map { name, value in
      InheritedVariable(entry: Array("\(name)=\(value)".utf8))
    }
    self.init(inheritance, of: given ?? InheritedVariable.ofProcess())
  }

  init(_ inheritance: ChildEnvironment.Inheritance, of variables: [InheritedVariable]) {
    self.inheritance = inheritance
    inherited = variables
  }

  /// Sets a variable to the value that a reference names.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `invalidArgument` if the name is invalid
  ///   or was set before, or `refused` if it is one that unlocks.
  public mutating func set(
    _ name: String, to reference: CredentialReference
  ) throws(KeychainError) {
    guard VariableRules.isValid(name) else { throw .invalidVariableName }
    guard !VariableRules.unlocks(name.utf8) else { throw .unlockingVariable(name) }
    if index(of: name).map({ variables[$0].source }) == .option { throw .setTwice(name) }
    add(Variable(name: name, value: .reference(reference), source: .option))
  }

  /// Adds the variables of a file that have not been set.
  ///
  /// - Parameter allowance: The names that its references may have.
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `refused`.
  public mutating func add(
    _ file: EnvironmentFile, allowing allowance: ReferenceAllowance
  ) throws(KeychainError) {
    for entry in file.entries {
      if case .reference(let reference) = entry.value {
        do throws(KeychainError) {
          try allowance.check(reference)
        } catch { throw error.located("'\(file.name)', line \(entry.line)") }
      }
      add(Variable(name: entry.name, value: entry.value, source: .file))
    }
  }

  /// Adds the inherited variables that are references and have not been set.
  ///
  /// - Parameter allowance: The names that they may have.
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `invalidArgument` if one begins like a
  ///   reference but is not one, or `refused`.
  public mutating func addInherited(allowing allowance: ReferenceAllowance) throws(KeychainError) {
    for variable in inherited where !VariableRules.unlocks(variable.name) {
      guard let (name, reference) = try variable.reference(), index(of: name) == nil
      else { continue }
      do throws(KeychainError) {
        try allowance.check(reference)
      } catch { throw error.located("the inherited variable '\(name)'") }
      add(Variable(name: name, value: .reference(reference), source: .inherited))
    }
  }

  /// The inherited variables that are references and are passed on unresolved.
  package var unreadReferences: [String] {
    inherited.compactMap { variable in
      guard let (name, _) = try? variable.reference(), index(of: name) == nil else { return nil }
      return name
    }
  }

  /// Reads the values that the references name.
  ///
  /// - Throws: As `ReferenceResolver.resolve(_:)` and
  ///   ``ChildEnvironment/set(_:to:)-(_,SecretBytes)``, with the name of the variable.
  public func resolve(with resolver: ReferenceResolver) throws(KeychainError) -> ChildEnvironment {
    var environment = ChildEnvironment(inheritance, of: inherited)
    for variable in variables {
      switch variable.value {
      case .text(let text): try environment.set(variable.name, to: text)
      case .reference(let reference):
        try environment.set(variable.name, to: resolver.resolve(reference, for: variable.name))
      }
    }
    return environment
  }

  /// Adds a variable; of two with the same name, the one with the earlier source stays.
  private mutating func add(_ variable: Variable) {
    guard let index = index(of: variable.name) else {
      indices[Array(variable.name.utf8)] = variables.count
      return variables.append(variable)
    }
    if variable.source.rank < variables[index].source.rank { variables[index] = variable }
  }

  private func index(of name: String) -> Int? { indices[Array(name.utf8)] }
}

extension EnvironmentPlan.Source {
  fileprivate var rank: Int {
    switch self {
    case .option: 0
    case .file: 1
    case .inherited: 2
    }
  }
}

extension KeychainError {
  fileprivate static func setTwice(_ name: String) -> Self {
    Self(.invalidArgument, "'\(name)' is set twice", recovery: "leave one of them out")
  }
}

/// The rules for the names of variables.
enum VariableRules {
  /// The variables that unlock the user's stores, which started programs never get.
  ///
  /// `CREDENTIALS_DIRECTORY` is not among them: it also leads to other credentials of a service.
  static var unlocking: [String] { UnlockSource.environmentVariables }

  /// Whether a variable unlocks the user's stores.
  static func unlocks(_ name: some Collection<UInt8>) -> Bool {
    unlocking.contains { $0.utf8.elementsEqual(name) }
  }

  /// Whether the system accepts a name: it is not empty, and has neither an equals sign nor NUL.
  static func isValid(_ name: String) -> Bool {
    !name.isEmpty && !name.utf8.contains { $0 == UInt8(ascii: "=") || $0 == 0 }
  }

  /// Whether a file may not set a variable.
  ///
  /// These variables would let the author of the file choose what runs in place of any command, or
  /// where secrets come from. Variables that only one interpreter reads are allowed.
  static func isClosedToFiles(_ name: String) -> Bool {
    ["LD_", "KEYCHAIN_"].contains { name.utf8.starts(with: $0.utf8) }
      || [
        "PATH", "BASH_ENV", "GCONV_PATH", "GLIBC_TUNABLES", "CREDENTIALS_DIRECTORY",
        "DBUS_SESSION_BUS_ADDRESS",
      ].contains { $0.hasSameBytes(as: name) }
  }

  /// Whether a clean environment has a variable: the places of programs and of the user's files,
  /// the terminal, the language, the time zone, and the places of the user's stores.
  static func isUsual(_ name: some Collection<UInt8>) -> Bool {
    name.starts(with: "LC_".utf8) || (usual + places).contains { $0.utf8.elementsEqual(name) }
  }

  private static let usual = [
    "COLORTERM", "HOME", "LANG", "LANGUAGE", "LOGNAME", "NO_COLOR", "PATH", "PWD", "SHELL", "TERM",
    "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
  ]

  /// The places of the stores, and how they are read.
  ///
  /// A program may call a credential helper, which has to find what this process found. The values
  /// are places, not secrets.
  private static let places = [
    "CREDENTIALS_DIRECTORY", "DBUS_SESSION_BUS_ADDRESS", "GIT_TERMINAL_PROMPT",
    "KEYCHAIN_ALLOW_READ", "KEYCHAIN_NO_PROMPT", "KEYCHAIN_QUIET", "KEYCHAIN_STORE",
    "KEYCHAIN_TRUSTED_FOLDERS",
    "KEYCHAIN_VAULT", "STATE_DIRECTORY",
  ]
}

extension String {
  /// Whether every shell and program accepts the text as the name of a variable: ASCII letters,
  /// digits and `_`, no digit first.
  package var isVariableName: Bool {
    guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    else { return false }
    return utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}

/// The services and servers that the references of a file may name.
///
/// A project's file may have been written by somebody other than the owner of the secrets.
public struct ReferenceAllowance: Sendable {
  private let services: [String]
  private let defaultService: String

  /// Creates an allowance.
  ///
  /// - Parameters:
  ///   - services: The services, and servers of internet passwords; empty to allow all.
  ///   - defaultService: The service of references without one.
  public init(services: [String], defaultService: String) {
    self.services = services
    self.defaultService = defaultService
  }

  /// Checks that a reference is allowed.
  ///
  /// - Throws: ``/KeychainSecrets/KeychainError`` with `refused`.
  public func check(_ reference: CredentialReference) throws(KeychainError) {
    let isAllowed = services.contains { reference.belongs(to: $0, defaultService: defaultService) }
    guard services.isEmpty || isAllowed else {
      let name = reference.serviceName(default: defaultService)
      throw KeychainError(
        .refused, "the service or server '\(name)' is not allowed",
        recovery: "allow it, too, if the author of the reference may have its secrets")
    }
  }
}

extension ReferenceResolver {
  /// Reads the value that a reference names; an error says what it is for.
  package func resolve(
    _ reference: CredentialReference, for name: String
  ) throws(KeychainError) -> SecretBytes {
    do throws(KeychainError) {
      return try resolve(reference)
    } catch { throw error.located("'\(name)'") }
  }
}

extension KeychainError {
  static let invalidVariableName = KeychainError(
    .invalidArgument, "the name of a variable is empty, or has an equals sign or NUL")

  static func unlockingVariable(_ name: String) -> Self {
    Self(
      .refused, "'\(name)' unlocks the store, and is not given to programs",
      recovery: "give it to the program in another way if it must unlock the store itself")
  }

  static func valueWithNUL(_ name: String) -> Self {
    Self(
      .undecodable, "the value of '\(name)' has a NUL, which no variable can hold",
      recovery: "add encoding=base64 to the reference, or give it as a file")
  }

  static func valueNotText(_ name: String) -> Self {
    Self(
      .undecodable, "the value of '\(name)' is not valid UTF-8",
      recovery: "add encoding=base64 to the reference, or give it as a file")
  }

  static func variableTooLong(_ name: String) -> Self {
    Self(
      .tooLarge, "the value of '\(name)' is too long for a variable: at most 128 KiB with the name",
      recovery: "give it as a file")
  }

  static func environmentTooLarge(_ largest: String?) -> Self {
    let largest = largest.map { "; the longest is '\($0)'" } ?? ""
    return Self(
      .tooLarge, "the variables and arguments are too long together for the system\(largest)",
      recovery: "give long values as files, or raise the limit of the stack: ulimit -s")
  }

  /// The error with the place before its message.
  func located(_ place: String) -> Self {
    Self(code, "\(place): \(message)", recovery: recovery, underlying: underlying)
  }
}
