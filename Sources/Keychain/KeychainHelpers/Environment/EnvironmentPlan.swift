public import KeychainCredentials

/// Which variables a program gets, before anything is read from a store.
///
/// Of several values for a name, the one of the first of these sources counts: variables that are
/// set one by one, those of a file, inherited ones.
///
/// ```swift
/// var plan = EnvironmentPlan()
/// try plan.set("PGPASSWORD", to: CredentialReference("keychain://database/admin"))
/// let resolver = ReferenceResolver(store: store, defaultService: "mytool")
/// let process = Process()
/// process.environment = try plan.resolve(with: resolver).dictionary
/// ```
public struct EnvironmentPlan: Sendable {
  /// Where a variable comes from.
  public enum Source: String, Sendable {
    /// It was set by ``EnvironmentPlan/set(_:to:)``.
    case option

    /// A file has it.
    case file

    /// This process inherited it, and its value is a reference.
    case inherited
  }

  /// What a variable will hold.
  public enum Value: Sendable {
    /// Text, which is no secret.
    case text(String)

    /// What a reference names.
    case reference(CredentialReference)
  }

  /// A variable that will be set.
  public struct Variable: Sendable {
    /// The name.
    public let name: String

    /// What it will hold.
    public let value: Value

    /// Where it comes from.
    public let source: Source
  }

  /// The variables that will be set, in the order in which they were found.
  public private(set) var variables: [Variable] = []

  /// The places of the variables by the bytes of their names.
  private var indices: [[UInt8]: Int] = [:]

  private let inheritance: ChildEnvironment.Inheritance
  private let inherited: [InheritedVariable]

  /// Creates a plan that sets nothing yet.
  ///
  /// - Parameter inheritance: Which other variables of this process the program gets.
  public init(inheriting inheritance: ChildEnvironment.Inheritance = .all) {
    self.init(inheritance, of: InheritedVariable.ofProcess())
  }

  init(_ inheritance: ChildEnvironment.Inheritance, of variables: [InheritedVariable]) {
    self.inheritance = inheritance
    inherited = variables
  }

  /// Sets a variable to what a reference names.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - reference: The reference.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `invalidArgument` if the name is invalid or
  ///   was set before, or `refused` if it is one that unlocks.
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
  /// - Parameters:
  ///   - file: The file.
  ///   - allowance: What its references may name.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `refused`.
  public mutating func add(
    _ file: EnvironmentFile, allowing allowance: ReferenceAllowance
  ) throws(KeychainError) {
    for entry in file.entries {
      if case .reference(let reference) = entry.value {
        do throws(KeychainError) {
          try allowance.check(reference)
        } catch {
          throw error.located("'\(file.name)', line \(entry.line)")
        }
      }
      add(Variable(name: entry.name, value: entry.value, source: .file))
    }
  }

  /// Adds the inherited variables that are references, as far as they are not set otherwise.
  ///
  /// - Parameter allowance: What they may name.
  /// - Throws: ``/KeychainCredentials/KeychainError`` with `invalidArgument` if one begins like a
  ///   reference and is none, or `refused`.
  public mutating func addInherited(
    allowing allowance: ReferenceAllowance
  ) throws(KeychainError) {
    for variable in inherited where !VariableRules.unlocks(variable.name) {
      guard let (name, reference) = try variable.reference(), index(of: name) == nil
      else { continue }
      do throws(KeychainError) {
        try allowance.check(reference)
      } catch {
        throw error.located("the inherited variable '\(name)'")
      }
      add(Variable(name: name, value: .reference(reference), source: .inherited))
    }
  }

  /// The inherited variables that are references, and go on as they are.
  package var unreadReferences: [String] {
    inherited.compactMap { variable in
      guard let (name, _) = try? variable.reference(), index(of: name) == nil else { return nil }
      return name
    }
  }

  /// Reads what the references name.
  ///
  /// - Parameter resolver: Reads the store.
  /// - Returns: The environment.
  /// - Throws: As `ReferenceResolver.resolve(_:)` and ``ChildEnvironment/set(_:to:)-(_,SecretBytes)``,
  ///   with the name of the variable.
  public func resolve(
    with resolver: ReferenceResolver
  ) throws(KeychainError) -> ChildEnvironment {
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

  /// Adds a variable; of two with a name, the one with the earlier source stays.
  private mutating func add(_ variable: Variable) {
    guard let index = index(of: variable.name) else {
      indices[Array(variable.name.utf8)] = variables.count
      return variables.append(variable)
    }
    if variable.source.rank < variables[index].source.rank { variables[index] = variable }
  }

  private func index(of name: String) -> Int? {
    indices[Array(name.utf8)]
  }
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
