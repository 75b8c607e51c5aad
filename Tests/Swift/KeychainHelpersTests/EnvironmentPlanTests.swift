import Glibc
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("Variables of a program")
struct EnvironmentPlanTests {
  private let store = InMemoryCredentialStore()

  private var resolver: ReferenceResolver {
    ReferenceResolver(store: store, defaultService: "own")
  }

  private func store(_ account: String, _ secret: String, service: String = "s") throws {
    try store.set(
      Credential(.genericPassword(service: service, account: account)),
      secret: SecretBytes(copying: secret))
  }

  private func plan(
    _ inheritance: ChildEnvironment.Inheritance = .all, _ entries: String...
  ) -> EnvironmentPlan {
    EnvironmentPlan(inheritance, of: entries.map { InheritedVariable(entry: Array($0.utf8)) })
  }

  private let everything = ReferenceAllowance(services: [], defaultService: "own")

  /// The texts that a program would get.
  private func texts(_ environment: ChildEnvironment) throws -> [String] {
    try environment.withPointers { pointers in
      var texts: [String] = []
      var next = pointers
      while let text = next.pointee {
        texts.append(String(cString: text))
        next += 1
      }
      return texts
    }
  }

  @Test func optionsComeBeforeFilesAndFilesBeforeInheritedOnes() throws {
    for name in ["option", "file", "inherited"] { try store(name, name) }
    var plan = plan(
      .all, "A=keychain://s/inherited", "B=keychain://s/inherited", "C=keychain://s/inherited",
      "D=plain")
    try plan.addInherited(allowing: everything)
    try plan.add(
      EnvironmentFile("A=keychain://s/file\nB=keychain://s/file", name: ".env"),
      allowing: everything)
    try plan.set("A", to: CredentialReference("keychain://s/option"))
    let environment = try plan.resolve(with: resolver)
    #expect(try texts(environment) == ["D=plain", "A=option", "B=file", "C=inherited"])
    #expect(
      try environment.dictionary == ["A": "option", "B": "file", "C": "inherited", "D": "plain"])
    #expect(environment.replacedNames.isEmpty)
  }

  @Test func inheritedReferencesStayAsTheyAreUnlessAsked() throws {
    let environment = try plan(.all, "A=keychain://s/nobody", "odd", "A=2").resolve(with: resolver)
    #expect(try texts(environment) == ["A=keychain://s/nobody", "odd", "A=2"])
  }

  @Test func replacedPlainValuesAreNamed() throws {
    try store("a", "new")
    var plan = plan(.all, "A=old", "B=new", "C=keychain://s/x", "D=old")
    for name in ["A", "B", "C"] { try plan.set(name, to: CredentialReference("keychain://s/a")) }
    try plan.add(EnvironmentFile("D=other", name: ".env"), allowing: everything)
    #expect(try plan.resolve(with: resolver).replacedNames == ["A", "D"])
  }

  @Test func unlockingVariablesAreNeverPassedOn() throws {
    var plan = plan(
      .all, "KEYCHAIN_PASSPHRASE=x", "KEYCHAIN_PASSPHRASE_FILE=x", "KEYCHAIN_KEY_FILE=x",
      "KEYCHAIN_IDENTITY_FILE=keychain://s/a", "KEYCHAIN_VAULT=v", "KEYCHAIN_STORE=vault")
    try plan.addInherited(allowing: everything)
    #expect(
      try texts(plan.resolve(with: resolver)) == ["KEYCHAIN_VAULT=v", "KEYCHAIN_STORE=vault"])
    let failure = #expect(throws: KeychainError.self) {
      try plan.set("KEYCHAIN_PASSPHRASE", to: CredentialReference("keychain://s/a"))
    }
    #expect(failure?.code == .refused)
  }

  @Test func unlockingVariablesAreNotCopied() {
    let texts = [
      "A=1", "KEYCHAIN_PASSPHRASE=x", "KEYCHAIN_KEY_FILE", "KEYCHAIN_PASSPHRASES=2", "odd",
    ]
    var entries = texts.map { strdup($0) }
    defer { for entry in entries { free(entry) } }
    entries.append(nil)
    let copied = InheritedVariable.ofProcess(&entries).map(\.entry)
    #expect(copied == ["A=1", "KEYCHAIN_PASSPHRASES=2", "odd"].map { Array($0.utf8) })
  }

  @Test func aCleanEnvironmentHasTheUsualVariablesAndThoseThatAreSet() throws {
    try store("a", "secret")
    var plan = plan(
      .usual, "PATH=/bin", "LC_ALL=C", "LC_X=1", "PATHS=2", "AWS_SECRET=3", "KEYCHAIN_PASSPHRASE=4",
      "R=keychain://s/a")
    try plan.addInherited(allowing: everything)
    #expect(
      try texts(plan.resolve(with: resolver)) == ["PATH=/bin", "LC_ALL=C", "LC_X=1", "R=secret"])
  }

  @Test(arguments: [
    "KEYCHAIN_VAULT", "KEYCHAIN_STORE", "KEYCHAIN_NO_PROMPT", "KEYCHAIN_QUIET",
    "KEYCHAIN_ALLOW_READ",
    "KEYCHAIN_TRUSTED_FOLDERS", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR", "STATE_DIRECTORY", "CREDENTIALS_DIRECTORY", "DBUS_SESSION_BUS_ADDRESS",
    "GIT_TERMINAL_PROMPT",
  ])
  func aCleanEnvironmentSaysWhereTheStoresAre(name: String) throws {
    let plan = plan(.usual, "\(name)=x", "KEYCHAIN_KEY_FILE=x", "KEYCHAIN_OTHER=x", "XDG_OTHER=x")
    #expect(try texts(plan.resolve(with: resolver)) == ["\(name)=x"])
  }

  @Test func allowedServicesLimitFilesButNotOptions() throws {
    try store("a", "1")
    try store("a", "2", service: "own")
    let own = ReferenceAllowance(services: ["own", "Git.example.com"], defaultService: "own")
    var plan = plan(.all, "I=keychain://s/a")
    try plan.set("A", to: CredentialReference("keychain://s/a"))
    try plan.add(
      EnvironmentFile("B=keychain:///a\nC=keychain+https://git.example.COM", name: ".env"),
      allowing: own)
    let inFile = #expect(throws: KeychainError.self) {
      try plan.add(EnvironmentFile("\nD=keychain://s/a", name: ".env"), allowing: own)
    }
    #expect(inFile?.code == .refused)
    #expect(inFile?.message == "'.env', line 2: the service or server 's' is not allowed")
    let inherited = #expect(throws: KeychainError.self) { try plan.addInherited(allowing: own) }
    #expect(inherited?.code == .refused)
  }

  @Test func aFailureNamesTheVariable() throws {
    var plan = plan()
    try plan.set("TOKEN", to: CredentialReference("keychain://s/nobody"))
    let failure = #expect(throws: KeychainError.self) { try plan.resolve(with: resolver) }
    #expect(failure?.code == .notFound)
    #expect(failure?.message.hasPrefix("'TOKEN': ") == true)
  }

  @Test(arguments: ["", "A=B", "A\0"])
  func impossibleNamesAreRefused(name: String) throws {
    var plan = plan()
    let failure = #expect(throws: KeychainError.self) {
      try plan.set(name, to: CredentialReference("keychain://s/a"))
    }
    #expect(failure?.code == .invalidArgument)
  }

  @Test func aNameIsSetOnce() throws {
    var plan = plan()
    try plan.set("A", to: CredentialReference("keychain://s/a"))
    #expect(throws: KeychainError.self) {
      try plan.set("A", to: CredentialReference("keychain://s/a"))
    }
  }

  @Test func valuesWithNULAreRefusedAndNewlinesAreNot() throws {
    var environment = ChildEnvironment(inheriting: .none)
    try environment.set("A", to: "one\ntwo\n")
    #expect(try texts(environment) == ["A=one\ntwo\n"])
    let failure = #expect(throws: KeychainError.self) { try environment.set("B", to: "a\0b") }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.contains("'B'") == true)
  }

  @Test func aSecretThatIsNoTextIsNotLeftOutOfADictionary() throws {
    var environment = ChildEnvironment(inheriting: .none)
    let bytes: [UInt8] = [0xFF]
    try environment.set("A", to: SecretBytes(copying: bytes.span.bytes))
    #expect(try texts(environment).count == 1)
    let failure = #expect(throws: KeychainError.self) { try environment.dictionary }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.contains("'A'") == true)
  }

  @Test func longValuesAreNamedBeforeAnythingStarts() throws {
    var environment = ChildEnvironment(inheriting: .none)
    // "A=", the value and its NUL are 128 KiB.
    try environment.set("A", to: String(repeating: "x", count: (128 << 10) - 3))
    try environment.checkSize(arguments: [])
    try environment.set("B", to: String(repeating: "x", count: (128 << 10) - 2))
    let failure = #expect(throws: KeychainError.self) { try environment.checkSize(arguments: []) }
    #expect(failure?.code == .tooLarge)
    #expect(failure?.message.contains("'B'") == true)
  }

  @Test func manyValuesTogetherAreTooLong() throws {
    var environment = ChildEnvironment(inheriting: .none)
    for number in 0..<70 {
      try environment.set("V\(number)", to: String(repeating: "x", count: 100_000))
    }
    let failure = #expect(throws: KeychainError.self) { try environment.checkSize(arguments: []) }
    #expect(failure?.code == .tooLarge)
  }
}
