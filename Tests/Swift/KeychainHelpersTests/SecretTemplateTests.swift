import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("Templates")
struct SecretTemplateTests {
  private let store = InMemoryCredentialStore()

  private func filled(_ text: String, allowing services: [String] = []) throws -> String? {
    let secrets = [
      "a": "one", "braces": "{{ keychain://s/a }}", "quote": "a\"b\n", "all": Self.all,
      "nul": "hunter2\0",
    ]
    for (account, secret) in secrets {
      try store.set(
        Credential(.genericPassword(service: "s", account: account)),
        secret: SecretBytes(copying: secret))
    }
    let resolver = ReferenceResolver(store: store, defaultService: "s")
    let allowance = ReferenceAllowance(services: services, defaultService: "s")
    return try SecretTemplate(Array(text.utf8)).fill(with: resolver, allowing: allowance)
      .withBytes { $0.text }
  }

  @Test(arguments: [
    ("", ""), ("{ a } }} {x}", "{ a } }} {x}"), ("{{keychain:///a}}", "one"),
    ("x={{ keychain://s/a }};{{\tkeychain://s/a?field=username }}\n", "x=one;a\n"),
    ("{{ \"{{\" }} x }}", "{{ x }}"), ("{{\"{{\"}}", "{{"), ("{", "{"),
    ("{{ keychain://s/no?optional }}", ""), ("[{{ keychain://s/quote }}]", "[a\"b\n]"),
  ])
  func markersAreReplaced(text: String, expected: String) throws {
    #expect(try filled(text) == expected)
  }

  /// What the formats give a meaning, and line breaks of YAML that are none of JSON.
  private static let all = "a'b\"c\\d$(e)`f`\n\u{7F}\u{85}\u{2028}\u{FFFF}ü: #\u{1F600}"

  private static let asJSON =
    #"a'b\"c\\d$(e)`f`\u000A\u007F\u0085\u2028\uFFFFü: #"# + "\u{1F600}"
  private static let asDoubleQuoted = all.replacing("\\", with: #"\\"#)
    .replacing("\"", with: #"\""#).replacing("$", with: #"\$"#).replacing("`", with: #"\`"#)
  private static let asSingleQuoted = all.replacing("'", with: #"'\''"#)

  @Test(arguments: [
    (#"{"a":{{ R | json }}}"#, #"{"a":"\#(asJSON)"}"#),
    (#"["x \"\" {{R|json}}"]"#, #"["x \"\" \#(asJSON)"]"#),
    (#"["\"","{{R|json}}"]"#, #"["\"","\#(asJSON)"]"#),
    (#"["x\\",{{R|json}},'{{R|json}}'"#, #"["x\\","\#(asJSON)",'"\#(asJSON)"'"#),
    ("a: {{ R | yaml }}", "a: \"\(asJSON)\""), ("a: \"-{{R |yaml}}-\"", "a: \"-\(asJSON)-\""),
    ("5\" don't: {{ R | yaml }}", "5\" don't: \"\(asJSON)\""),
    ("a: 'it''s' # {{ R | yaml }}", "a: 'it''s' # \"\(asJSON)\""),
    ("A=x{{ R | shell }}", "A=x'\(asSingleQuoted)'"),
    ("A='x{{R|shell}}'", "A='x\(asSingleQuoted)'"),
    ("A=\"'x{{R|shell}}\"", "A=\"'x\(asDoubleQuoted)\""),
    (#"A=\'{{R|shell}}"#, #"A=\''\#(asSingleQuoted)'"#),
    ("A='\n{{R|shell}}", "A='\n'\(asSingleQuoted)'"),
    (#"'\'{{R|shell}}"#, #"'\''\#(asSingleQuoted)'"#),
    (
      "A=\"$(f \"a)\" (b))`g`${C:-'}'}{{R|shell}}\"",
      "A=\"$(f \"a)\" (b))`g`${C:-'}'}\(asDoubleQuoted)\""
    ),
    (#"A='$(`' B=\$(\` C="\$(\`{{R|shell}}""#, #"A='$(`' B=\$(\` C="\$(\`\#(asDoubleQuoted)""#),
    ("A=$(f\n{{R|shell}}", "A=$(f\n'\(asSingleQuoted)'"),
    (
      "postgres://u:{{ R | url }}@h",
      "postgres://u:a%27b%22c%5Cd%24%28e%29%60f%60%0A%7F%C2%85%E2%80%A8%EF%BF%BF%C3%BC%3A%20%23%F0%9F"
        + "%98%80@h"
    ),
    ("{{ keychain:///nul | json }}", #""hunter2\u0000""#),
    ("{{ keychain:///nul | url }}", "hunter2%00"),
    ("{{ keychain:///no?optional | shell }}", "''"),
  ])
  func aFormKeepsTheFileAsItIs(text: String, expected: String) throws {
    #expect(try filled(text.replacing("R", with: "keychain:///all")) == expected)
  }

  @Test(arguments: [
    ("{{ keychain:///a | toml }}", "unknown"), ("{{ keychain:///a | }}", "unknown"),
    ("{{ keychain:///a | url | json }}", "unknown"), ("a: '{{ keychain:///a | yaml }}'", "single"),
    (#"X="$(printf %s "{{ keychain:///a | shell }}")""#, "'keychain:///a'"),
    ("X=$(printf %s {{ keychain:///a | shell }})", "a shell could run a secret"),
    ("X=`printf %s '{{ keychain:///a | shell }}'`", "a shell could run a secret"),
    ("X=\"`printf %s \\\"{{ keychain:///a | shell }}\\\"`\"", "a shell could run a secret"),
    ("X=\"${Y:-{{ keychain:///a | shell }}}\"", "a shell could run a secret"),
    (#"X="${Y:-"}{{ keychain:///a | shell }}"}""#, "a shell could run a secret"),
    ("X=$((1 + (2) + {{ keychain:///a | shell }}))", "a shell could run a secret"),
    ("X=$'{{ keychain:///a | shell }}'", "a shell could run a secret"),
    (#"X="$(case a in a) f "{{ keychain:///a | shell }}";; esac)""#, "a shell could run a secret"),
    (#"{"a":"{\"b\":\"{{ keychain:///a | json }}\"}"}"#, "'keychain:///a' comes after an escaped"),
    (#"a: "{\"b\":\"{{ keychain:///a | yaml }}\"}""#, "one level only"),
    ("{{ keychain:///nul | shell }}", "'keychain:///nul' names has a NUL"),
    (
      "{{ keychain:///a?encoding=base64 | json }}{{ keychain:///nul|shell }}",
      "what 'keychain:///nul' names"
    ),
  ])
  func secretThatAFormCannotHoldIsAnError(text: String, words: String) {
    let failure = #expect(throws: KeychainError.self) { try filled(text) }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.hasPrefix("line 1, column ") == true)
    #expect(failure?.message.contains(words) == true)
    #expect(failure?.message.contains("hunter2") == false)
  }

  @Test func aSecretThatIsNotTextHasNoFormOfText() throws {
    let bytes: [UInt8] = [0xFF, 0x27]
    try store.set(
      Credential(.genericPassword(service: "s", account: "bytes")),
      secret: SecretBytes(copying: bytes.span.bytes))
    #expect(throws: KeychainError.self) { try filled("{{ keychain:///bytes | yaml }}") }
    #expect(try filled("{{ keychain:///bytes | url }}") == "%FF%27")
  }

  @Test func aSecretIsNotReadAsATemplate() throws {
    #expect(try filled("{{ keychain://s/braces }}") == "{{ keychain://s/a }}")
  }

  @Test func otherBytesStayAsTheyAre() throws {
    let bytes: [UInt8] = [0, 0xFF, 0x7B, 0x0D, 0x0A, 0xC3]
    let resolver = ReferenceResolver(store: store, defaultService: "s")
    let filled = try SecretTemplate(bytes).fill(
      with: resolver, allowing: ReferenceAllowance(services: [], defaultService: "s"))
    #expect(filled.withBytes { $0.array } == bytes)
  }

  @Test(arguments: [
    "{{", "{{ }}", "{{ .Values.x }}", "{{ keychian://s/a }}", "{{ keychain://s/a }",
    "{{{ keychain://s/a }}}",
    "{{ keychain://s/a\n}}", "{{ \"{\" }}", "{{{{",
  ])
  func bracesThatBeginNoReferenceAreAnError(text: String) {
    let failure = #expect(throws: KeychainError.self) { try filled("ü\nüü\(text)") }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.hasPrefix("line 2, column 3: ") == true)
  }

  @Test func aWrongReferenceIsNamedByItsPlaceOnly() {
    let failure = #expect(throws: KeychainError.self) { try filled("{{ keychain:hunter2 }}") }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message.hasPrefix("line 1, column 1: ") == true)
    #expect(failure?.message.contains("hunter2") == false)
  }

  @Test func disallowedServiceIsRefusedBeforeAnyRead() {
    let failure = #expect(throws: KeychainError.self) {
      try filled("{{ keychain://s/nobody }}\n{{ keychain://t/a }}", allowing: ["s"])
    }
    #expect(failure?.code == .refused)
    #expect(failure?.message.hasPrefix("line 2, column 1: ") == true)
  }

  @Test func aMissingCredentialIsNamedByItsPlace() {
    let failure = #expect(throws: KeychainError.self) { try filled(" {{ keychain://s/nobody }}") }
    #expect(failure?.code == .notFound)
    #expect(failure?.message.hasPrefix("line 1, column 2: ") == true)
  }
}
