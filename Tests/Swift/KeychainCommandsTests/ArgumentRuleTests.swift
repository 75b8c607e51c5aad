import ArgumentParser
import KeychainCredentials
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

private let recipient =
  "pkpub2-taj4mjq8q8smqpghtbamj8rsm5t9pynfhytc7rx9vr66txnfps5y"
  + "tf0yzbjmg9hnjmfvavjtfa1dy57sycmcyx0hjv69ekxfeg87nw3cjyhvmcps"

@Suite("Rules of arguments")
struct ArgumentRuleTests {
  @Test(arguments: [
    "get", "get a --json --output f", "get a --json --newline never", "get a b",
    "get a --service s --server h", "get a --port 1", "get a --port 65536 --server h",
    "get a --passphrase-fd 3 --key-file k", "get a --passphrase-fd -1", "get a --deadline soon",
    "get a --deadline 30", "unlock --timeout 30",
    "set", "set a secret", "set a --create-only --expected-version 1", "set a --passphrase-fd 0",
    "set a --accessibility sometimes", "set a --attribute x", "set a --expires soon",
    "update a", "delete", "show", "list --access-group g --all-groups",
    "init --no-device", "init --passphrase-file f", "init --new-key-file a --with-key-file b",
    "init --new-passphrase-fd 3 --new-passphrase-file f", "slots add",
    "slots add --passphrase --device", "slots add --passphrase-fd 3 --new-passphrase-fd 3",
    "slots add --recipient pkpub1-x", "slots add --recipient pkpub2-x",
    "slots add --recipient \(recipient) --may rule", "init --shared",
    "slots remove 2 --keep-keys --keep-keys=x", "rekey --remove x",
    "init --recovery-code-file f",
    "get a --identity i --recovery-code-file c", "get a --recovery-code-fd -1",
    "set a --recovery-code-fd 0", "identity pin f --check 12",
    "slots remove", "slots remove x", "backup", "backup - --replace", "rename a",
    "rename a b --to-service s --to-server h",
    "rename a b --to-service s --to-port 1", "change-passphrase --slot x",
    "change-passphrase --passphrase-fd 3 --new-passphrase-fd 3",
  ])
  func wrongUsageIsRefused(_ line: String) {
    let error = #expect(throws: (any Error).self) { try Self.parse(line) }
    #expect(error.map { KeychainCommand.exitCode(for: $0).rawValue } == ExitCodes.usage)
  }

  @Test(arguments: [
    "get a", "get --attribute k=v", "get a --attribute k=v --newline always",
    "set a --passphrase-fd 0 --insecure-value v", "set a --attribute k=v --attribute l=w",
    "rm a --if-exists", "ls", "list --server h --protocol https --port 443 --path /x",
    "init", "init --no-device --passphrase", "init --no-device --new-passphrase-file f",
    "slots add --recipient \(recipient) --name N --may write",
    "slots add --recipient \(recipient)", "slots remove 2 --keep-keys --delete-items -y",
    "slots ls", "slots rm 2 --yes", "slots add --key-file old --new-key-file new",
    "update a --label -x", "get a --service --json", "unlock --timeout 1h", "lock --all",
    "init --identity i --no-device", "recovery create --code-file f",
    "identity create", "identity create f", "identity show f --json",
    "identity pin f --check 0123456789ABCDEF0123456789abcdef --replace",
    "accept-restored -y", "mv a b --to-service -x --json", "rename a -- -b",
    "list -a -x -s s -g g -q", "get a -s s -g g -q",
    "migrate --from vault --to secret-service -s s -g g",
    "doctor -s s", "set a -qs s", "change-passphrase --slot 2 --key-file k --new-passphrase-file f",
    "rekey -y --remove 2 --new-administration-key", "init --shared --identity i --name N",
    "doctor --json --store vault --no-prompt --deadline 5s --vault v",
  ])
  func rightUsageIsAccepted(_ line: String) throws {
    _ = try Self.parse(line)
  }

  @Test func accountMayBeginWithADash() throws {
    let command = try #require(try Self.parse("get -- --json") as? GetCommand)
    #expect(command.account == "--json")
    #expect(!command.json)
  }

  @Test func secretInArgumentsIsNotRepeated() throws {
    let error = #expect(throws: (any Error).self) { try Self.parse("set a hunter2") }
    let message = KeychainCommand.fullMessage(for: try #require(error))
    #expect(!message.contains("hunter2"))
  }

  @Test func emptyTextsRemoveFields() throws {
    let command = try #require(
      try KeychainCommand.parseAsRoot([
        "update", "a", "--label", "", "--expires", "never", "--remove-attribute", "k",
      ]) as? UpdateCommand)
    let update = command.details.update(removing: command.removeAttribute)
    #expect(update.label == .clear)
    #expect(update.expires == .clear)
    #expect(update.comment == .keep)
    #expect(update.attributes.map(\.name) == ["k"])
    #expect(update.attributes.allSatisfy { $0.value == nil })
  }

  private static func parse(_ line: String) throws -> any ParsableCommand {
    try KeychainCommand.parseAsRoot(line.split(separator: " ").map(String.init))
  }
}
